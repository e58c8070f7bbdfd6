"""Git repositories that name a program wherever git's documentation lets them."""

import os
from pathlib import Path

from repositories import commit, run_git, write

FILES = {"A.java": "class A { void one() { } }\n", "src/B.java": "class B { void two() { } }\n"}

ATTRIBUTES = "* filter=evil diff=evil merge=evil text=auto working-tree-encoding=UTF-16\n"

HOOKS = """
applypatch-msg commit-msg fsmonitor-watchman p4-changelist p4-post-changelist p4-pre-submit p4-prepare-changelist
post-applypatch post-checkout post-commit post-index-change post-merge post-receive post-rewrite post-update
pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase pre-receive prepare-commit-msg proc-receive
push-to-checkout reference-transaction sendemail-validate update
"""

PROGRAMS = """
alias.ls-files=!P alias.ls-tree=!P alias.config=!P alias.cat-file=!P alias.status=!P browser.evil.cmd=P
browser.evil.path=P core.alternateRefsCommand=P core.askPass=P core.editor=P core.fsmonitor=P core.gitProxy=P
core.hooksPath=H core.pager=P core.sshCommand=P credential.helper=!P credential.https://example.org.helper=!P
diff.evil.command=P diff.evil.textconv=P diff.external=P difftool.evil.cmd=P difftool.evil.path=P filter.evil.clean=P
filter.evil.process=P filter.evil.required=true filter.evil.smudge=P gpg.openpgp.program=P gpg.program=P
gpg.ssh.defaultKeyCommand=P gpg.ssh.program=P gpg.x509.program=P guitool.evil.cmd=P help.browser=evil
hook.evil.command=P hook.evil.event=post-index-change imap.tunnel=P init.templateDir=H instaweb.browser=P
instaweb.httpd=P interactive.diffFilter=P log.showSignature=true man.evil.cmd=P man.evil.path=P man.viewer=evil
merge.evil.driver=P mergetool.evil.cmd=P mergetool.evil.path=P pager.cat-file=P pager.config=P pager.diff=P
pager.ls-files=P pager.ls-tree=P pager.status=P protocol.allow=always protocol.ext.allow=always
receive.procReceiveRefs=refs remote.evil.promisor=true remote.evil.receivepack=P remote.evil.uploadpack=P
remote.evil.url=ext::P remote.evil.vcs=ext sendemail.ccCmd=P sendemail.headerCmd=P sendemail.sendmailCmd=P
sendemail.smtpServer=P sendemail.toCmd=P sequence.editor=P submodule.evil.active=true submodule.evil.update=!P
submodule.recurse=true svn.authorsProg=P tar.evil.command=P trailer.evil.cmd=P trailer.evil.command=P
uploadpack.packObjectsHook=P url.ext::P.insteadOf=ssh web.browser=evil
"""
"""Keys of git's configuration that name a program (P), a folder of hooks (H), or that let one run."""


def program_in(folder: Path) -> Path:
    """A program that leaves the file ``was-run`` beside itself, and then does what a filter would."""
    path = folder / "program"
    path.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{folder}/was-run'\ncat\n")
    path.chmod(0o755)
    hooks = folder / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS.split():
        (hooks / name).write_text(f"#!/bin/sh\necho hook {name} >> '{folder}/was-run'\n")
        (hooks / name).chmod(0o755)
    return path


def evil_configuration(program: Path) -> str:
    """Every such key, as the text of a configuration."""
    lines = []
    for setting in PROGRAMS.split():
        key, _, value = setting.partition("=")
        section, _, name = key.partition(".")
        middle, _, name = name.rpartition(".")
        middle = middle.replace("P", str(program)) if middle.startswith("ext::") else middle
        lines.append(f'[{section} "{middle}"]' if middle else f"[{section}]")
        named = value.replace("P", str(program)) if value in ("P", "!P", "ext::P") else value
        lines.append(f"\t{name} = {program.parent / 'hooks' if value == 'H' else named}")
    return "\n".join(lines) + "\n"


def _checkout(root: Path) -> Path:
    commit(root, FILES)
    run_git(root, "remote", "add", "origin", "https://example.org/o/n")
    return root


def _with_hooks(git_folder: Path, program: Path) -> None:
    for hook in (program.parent / "hooks").iterdir():
        target = git_folder / "hooks" / hook.name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(hook.read_bytes())
        target.chmod(0o755)


def _append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def in_configuration(root: Path, program: Path) -> Path:
    write(_checkout(root), {".gitattributes": ATTRIBUTES})
    _append(root / ".git/config", evil_configuration(program))
    return root


def in_include(root: Path, program: Path) -> Path:
    write(_checkout(root), {".gitattributes": ATTRIBUTES, "own.txt": evil_configuration(program)})
    _append(root / ".git/config", f'[include]\n\tpath = {root}/own.txt\n[includeIf "gitdir:**"]\n\tpath = ../own.txt\n')
    return root


def in_attributes(root: Path, program: Path) -> Path:
    write(_checkout(root), {"src/.gitattributes": ATTRIBUTES, ".git/info/attributes": ATTRIBUTES})
    write(root, {"mine": ATTRIBUTES})
    _append(root / ".git/config", evil_configuration(program) + f"[core]\n\tattributesFile = {root}/mine\n")
    return root


def in_hooks(root: Path, program: Path) -> Path:
    _with_hooks(_checkout(root) / ".git", program)
    return root


def in_worktree(root: Path, program: Path) -> Path:
    main = _checkout(root.with_name("main"))
    run_git(main, "worktree", "add", "-q", "-b", "other", str(root))
    own = main / ".git/worktrees" / root.name
    write(own, {"config.worktree": evil_configuration(program)})
    write(root, {".gitattributes": ATTRIBUTES})
    _append(main / ".git/config", "[extensions]\n\tworktreeConfig = true\n")
    _with_hooks(main / ".git", program)
    return root


def in_submodule(root: Path, program: Path) -> Path:
    library = _checkout(root.with_name("library"))
    _checkout(root)
    run_git(root, "submodule", "--quiet", "add", str(library), "lib")
    commit(root, {})
    _append(root / ".git/modules/lib/config", evil_configuration(program))
    run_git(root, "config", "-f", ".git/modules/lib/config", "remote.origin.url", "https://example.org/o/lib")
    write(root / "lib", {".gitattributes": ATTRIBUTES})
    return root / "lib"


def in_git_file(root: Path, program: Path) -> Path:
    elsewhere = in_configuration(root.with_name("elsewhere"), program)
    write(root, FILES | {".gitattributes": ATTRIBUTES, ".git": f"gitdir: {elsewhere}/.git\n"})
    return root


def in_embedded_bare_repository(root: Path, program: Path) -> Path:
    """What a clone can bring along: a repository whose parts are committed as ordinary files."""
    inner = _checkout(root.with_name("inner"))
    run_git(root.parent, "clone", "-q", "--bare", str(inner), str(root.with_name("bare")))
    _checkout(root)
    root.with_name("bare").rename(root / "lib")
    write(root / "lib", {"src/B.java": FILES["src/B.java"], "src/A.java": "class A {}", "info/attributes": ATTRIBUTES})
    evil = (
        evil_configuration(program) + '[core]\n\tbare = false\n\tworktree = .\n[remote "origin"]\n\turl = ssh://a/b/c\n'
    )
    write(root / "lib", {"config": (root / "lib/config").read_text() + evil, "src/.gitattributes": ATTRIBUTES})
    _with_hooks(root / "lib", program)
    return root / "lib/src"


PLACES = (
    in_configuration, in_include, in_attributes, in_hooks, in_worktree, in_submodule, in_git_file,
    in_embedded_bare_repository,
)  # fmt: skip


def make_stale(root: Path) -> None:
    """Let each file look changed, so that git would compare its content."""
    for path in root.rglob("*.java"):
        os.utime(path, ns=(5, 5))

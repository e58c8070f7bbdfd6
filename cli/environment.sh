# Sourced by run.sh: sets $python to the interpreter of .venv, which `set_up FILE...` fills once with what these files of
# locks/ list. A stamp of each lock's checksum and Python's version decides whether that is done; an interrupted set-up
# is repeated; compile=--no-compile leaves compiling to the first import. GALM_PYTHON=/path/to/python uses that
# interpreter as it is, without a set-up.

export PYTHONPATH="$root" PYTHONSAFEPATH=1 PYTHONUTF8=1

set_up() {
  if [ -n "${GALM_PYTHON:-}" ]; then python=$GALM_PYTHON; return; fi
  venv=$root/.venv python=$root/.venv/bin/python
  if is_set_up "$@"; then return; fi
  check_writable
  lock
  if ! is_set_up "$@"; then install "$@"; fi  # another process may have done it while this one waited
  unlock
}

# A checkout of another user, or on a file system that is read-only, works if its owner has set it up.
check_writable() {
  local place
  for place in "$root" "$venv" "$root/.venv.lock" "$root/.venv.lock.d"; do
    [ ! -e "$place" ] || [ -w "$place" ] || fail "there is no complete .venv, and $place cannot be written: let its \
owner run this first, clone the code to a folder of your own, or set GALM_PYTHON=/path/to/python"
  done
}

is_set_up() {
  local file
  [ ! -e "$venv/unfinished" ] && [ -x "$python" ] || return 1
  for file in "$@"; do [ "$(stamp "$file")" = "$(cat "$venv/$file.stamp" 2>/dev/null)" ] || return 1; done
}

# None of the stamps is of another lock or another Python.
is_current() {
  local file
  [ ! -e "$venv/unfinished" ] && [ -x "$python" ] || return 1
  for file in "$venv"/*.stamp; do
    file=${file##*/} file=${file%.stamp}
    [ -f "$root/locks/$file" ] && [ "$(stamp "$file")" = "$(cat "$venv/$file.stamp")" ] || return 1
  done
}

stamp() { cksum <"$root/locks/$1" && "$python" -V 2>&1; }

install() {
  local file wanted
  if is_current; then echo "adding to .venv $(purpose "$@")" >&2; else make_venv "$(purpose "$@")"; fi
  touch "$venv/unfinished"
  for file in "$@"; do
    wanted=$(stamp "$file")  # of the file as pip reads it now, even if it changes meanwhile
    [ "$wanted" = "$(cat "$venv/$file.stamp" 2>/dev/null)" ] && continue
    pip_install "$file" >"$venv/pip.log" 2>&1 || {
      tail -n 15 "$venv/pip.log" >&2
      fail "could not install locks/$file (above: the last lines of $venv/pip.log); fix the cause and run this again"
    }
    printf '%s\n' "$wanted" >"$venv/$file.stamp"
  done
  rm "$venv/unfinished"
}

# What these files are for, and how long they take.
purpose() {
  case " $* " in
    *" requirements-dev.txt "*) echo "what the tests need (once, about 2 minutes)" ;;
    *" torch.txt "*) echo "what training needs (once, about 2 minutes)" ;;
    *requirements-agents.txt*|*requirements-[cpv]*.txt*) echo "$* (once)" ;;
    *) echo "what the search needs (once, about 20 seconds)" ;;
  esac
}

# Only files with the hashes of the lock, and none that would be built. Builds of torch differ by machine and have no
# hashes: torch comes after the packages that it needs, and with it only the GPU libraries of its build, as locked.
pip_install() {
  local compile=${compile:-}
  case $1 in requirements-search.txt) compile='' ;; esac  # a question is short, and imports nearly all of it
  case $1 in
    torch.txt) set -- --constraint "$root/locks/$1" torch ;;
    *) set -- --require-hashes --no-deps --requirement "$root/locks/$1" ;;
  esac
  "$python" -m pip install --quiet --disable-pip-version-check --no-input --only-binary :all: $compile "$@"
}

make_venv() {
  local base
  base=$(find_python) || exit 2
  echo "setting up .venv: $1" >&2
  rm -rf "$venv"
  "$base" -m venv "$venv" >&2 || fail "could not make $venv (see above)"
}

find_python() {
  local name
  for name in python3.13 python3.12 python3.11 python3; do
    "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue
    "$name" -c 'import venv, ensurepip' >/dev/null 2>&1 ||
      fail "$name lacks its venv module; on Debian or Ubuntu: sudo apt install $("$name" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
    echo "$name"; return
  done
  fail "Python 3.11 or newer is needed, but none of python3.13, python3.12, python3.11, python3 is that new"
}

# One set-up at a time: flock where it is installed, else a folder with the process id (macOS).
lock() {
  if command -v flock >/dev/null 2>&1; then
    exec 9>"$root/.venv.lock"
    flock -n 9 || { echo "waiting for another set-up of .venv" >&2; flock 9; }
    return
  fi
  until mkdir "$root/.venv.lock.d" 2>/dev/null; do
    kill -0 "$(cat "$root/.venv.lock.d/pid" 2>/dev/null)" 2>/dev/null || { sleep 1; forget_dead_lock; continue; }
    sleep 2
  done
  echo $$ >"$root/.venv.lock.d/pid"
  trap unlock EXIT
}

forget_dead_lock() {
  kill -0 "$(cat "$root/.venv.lock.d/pid" 2>/dev/null)" 2>/dev/null || rm -rf "$root/.venv.lock.d"
}

unlock() {
  if command -v flock >/dev/null 2>&1; then exec 9>&-; else rm -rf "$root/.venv.lock.d"; trap - EXIT; fi
}

fail() { echo "run.sh: $1" >&2; exit 2; }

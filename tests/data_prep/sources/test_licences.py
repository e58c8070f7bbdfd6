"""Licences are recognised in headers, licence files and descriptions of projects, and never guessed."""

import zipfile
from collections import Counter
from pathlib import Path

import pytest

from data_prep.sources.archives import read_java_files
from data_prep.sources.licence_texts import of_comment, of_file, of_name, spdx_tag
from data_prep.sources.licences import Licences, of_debian_copyright, of_pom
from tests.search.repositories import write

REPOSITORY = Path(__file__).parents[3]
COMMON = Path("/usr/share/common-licenses")
BSD = """Redistribution and use in source and binary forms, with or without
 * modification, are permitted provided that the following conditions are met:
 * 1. Redistributions of source code must retain the above copyright notice.
 * 2. Redistributions in binary form must reproduce the above copyright notice.
"""
MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software ...
 * The above copyright notice and this permission notice shall be included in all copies.
"""
GPL = """This program is free software; you can redistribute it and/or modify it
 * under the terms of the GNU {} Public License as published by the
 * Free Software Foundation{}. It is distributed in the hope that it will be useful. You should
 * have received a copy of the GNU {} Public License along with this program.
"""
CLASSPATH = """Linking this library statically or dynamically. As a special exception, the copyright holders give you
 * permission to link this library with independent modules to produce an executable.
"""


def gpl(
    kind: str = "General", version: str = "; either version 2 of the License, or (at your option) any later version"
):
    return GPL.format(kind, version, kind)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("// SPDX-License-Identifier: MIT", "MIT"),
        ("/* SPDX-License-Identifier:Apache-2.0 */", "Apache-2.0"),
        ("<!-- SPDX-License-Identifier: CC0-1.0 -->", "CC0-1.0"),
        (" * SPDX-License-Identifier: EPL-2.0 OR GPL-2.0-only WITH  Classpath-exception-2.0\r\n", None),
        (
            "# SPDX-License-Identifier: (MIT AND (BSD-3-Clause OR LicenseRef-own))",
            "(MIT AND (BSD-3-Clause OR LicenseRef-own))",
        ),
        ("// SPDX-License-Identifier: GPL-2.0+ // and more", ""),
        ("// SPDX-License-Identifier: see below", ""),
        ("// SPDX-License-Identifier: MIT OR", ""),
        ("// SPDX-License-Identifier: (MIT", ""),
        ("// SPDX-License-Identifier: )MIT(", ""),
        ("// SPDX-License-Identifier:", ""),
        ("// SPDX-License-Identifier: <script>", ""),
        ('String tag = "SPDX-License-Identifier: MIT";', ""),
        (f"// SPDX-License-Identifier: {'A' * 201}", ""),
        ("// SPDX-License-Identifier: \ufffd\u0301", ""),
        ("// MIT", ""),
    ],
)
def test_the_tag_is_taken_as_it_is_where_it_is_an_expression(text, expected):
    whole = "EPL-2.0 OR GPL-2.0-only WITH Classpath-exception-2.0"
    assert spdx_tag(f"// first\n{text}\nclass A {{}}".encode()) == (whole if expected is None else expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Licensed under the Apache License, Version 2.0 (the "License");', "Apache-2.0"),
        ("The ASF licenses this file to You under the Apache License,\n * Version 2.0 (the", "Apache-2.0"),
        ("See http://www.apache.org/licenses/LICENSE-2.0", "Apache-2.0"),
        ("Licensed under the Apache License, Version 2.0.1", None),
        ("The Apache Software License, Version 1.1", "Apache-1.1"),
        (MIT, "MIT"),
        ("Licensed under the MIT licence.", "MIT"),
        (MIT + "The Software shall be used for Good, not Evil.", "JSON"),
        (MIT + "Except as contained in this notice, the name of the X Consortium shall not be used", ""),
        ("Permission is hereby granted, free of charge, to any person obtaining a copy", ""),
        (BSD, "BSD-2-Clause"),
        (BSD + "3. Neither the name of the author may be used to endorse or promote products", "BSD-3-Clause"),
        (
            BSD + "3. All advertising materials mentioning this. The name may not be used to endorse or promote",
            "BSD-4-Clause",
        ),
        (BSD + "3. The end-user documentation included with the redistribution must thank us", ""),
        (BSD + "Not for the operation of any nuclear facility", ""),
        (gpl(), "GPL-2.0-or-later"),
        (gpl(version=", version 3 of the License"), "GPL-3.0-only"),
        (gpl(version=""), ""),
        (gpl(version=". JFoo version 2.0 has a copy"), ""),
        (
            gpl("Lesser General", "; either version 2.1 of the License, or (at your option) any later version"),
            "LGPL-2.1-or-later",
        ),
        (gpl("Lesser General", ", version 3") + "http://www.gnu.org/licenses/gpl-3.0.html", "LGPL-3.0-only"),
        (gpl("Library General"), "LGPL-2.0-or-later"),
        (gpl("Affero General", ", either version 3 of the License, or any later version"), "AGPL-3.0-or-later"),
        (gpl() + CLASSPATH, "GPL-2.0-or-later WITH Classpath-exception-2.0"),
        ("Under version 2 of the GNU General Public License", "GPL-2.0-only"),
        ("Released under the GPLv3+", "GPL-3.0-or-later"),
        ("Released under LGPL 2.1 or newer", "LGPL-2.1-or-later"),
        ("the terms of the Mozilla Public License,\n * v. 2.0. If a copy of the MPL was not distributed", "MPL-2.0"),
        ("made available under the terms of the Eclipse Public License v1.0", "EPL-1.0"),
        ("available at http://www.eclipse.org/legal/epl-v20.html", "EPL-2.0"),
        ("Eclipse Distribution License v. 1.0", "BSD-3-Clause"),
        ("explained at http://creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0"),
        ("Licensed under the CDDL, see CDDL+GPL_1_1.html", "CDDL-1.1"),
        ("This is free and unencumbered software released into the public domain.", "Unlicense"),
        ("Copyright 2011 Somebody. All rights reserved.", None),
        ("Use of this source code is governed by a BSD-style license in the LICENSE file.", None),
        ("This software is confidential and proprietary", ""),
        ("under the Foo Public License", ""),
        ("Maps words to licences.", None),
    ],
)
def test_a_header_says_its_licence(text, expected):
    assert of_comment(f"/*\n * Copyright (c) 2004-2022 A. U. Thor\n * {text}\n */") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Multiple-Licensed under the MPL 2.0,\n * and the EPL 1.0 (https://example.org).", "MPL-2.0 OR EPL-1.0"),
        (
            'terms of either the GNU General Public License Version 2 only ("GPL") or the Common Development\n * and '
            'Distribution License("CDDL") ... CDDL+GPL_1_1.html. Oracle designates this as subject to the "Classpath" '
            "exception",
            "GPL-2.0-only WITH Classpath-exception-2.0 OR CDDL-1.1",
        ),
        (
            "subject to the Mozilla Public License Version 1.1. Alternatively, the contents of this file may be used "
            "under the terms of either the GNU General Public License Version 2 or later, or the GNU Lesser General "
            "Public License Version 2.1 or later",
            "MPL-1.1 OR GPL-2.0-or-later OR LGPL-2.1-or-later",
        ),
        (
            "the Eclipse Public License v. 2.0. This Source Code may also be made available under the following "
            "Secondary Licenses: GNU General Public License, version 2 with the GNU Classpath Exception",
            "EPL-2.0 OR GPL-2.0-only WITH Classpath-exception-2.0",
        ),
        ("under the Apache License, Version 2.0 or the MIT license, at your option", "Apache-2.0 OR MIT"),
        ("under the Apache License, Version 2.0. Parts: MIT License", "Apache-2.0 AND MIT"),
        (f"dual-licensed under MPL 2.0 and EPL 1.0. Parts: {BSD}", ""),
    ],
)
def test_of_several_licences_one_may_choose_only_where_it_says_so(text, expected):
    assert of_comment(f"/* {text} */") == expected


def header(*comments: str) -> bytes:
    return "\n".join([*comments, "package a;", "/** Licensed under the MIT license */ class A {}"]).encode()


def test_the_first_comment_with_terms_counts_and_nothing_after_the_first_code(tmp_path):
    licences = Licences(tmp_path, [])
    apache, mpl = "// Licensed under the Apache\n// License, Version 2.0\n", "/* MPL 2.0 */"
    assert licences.of("A.java", header("\ufeff/* reserved comment block */", apache, mpl)) == "Apache-2.0"
    assert licences.of("A.java", header(mpl, apache)) == "MPL-2.0"
    assert licences.of("A.java", header(f"/* {BSD} nuclear */", apache)) == ""
    assert licences.of("A.java", header()) == ""
    assert licences.of("A.java", b"/* MPL 2.0, never closed") == "MPL-2.0"
    assert licences.of("A.java", header(apache, "// SPDX-License-Identifier: EPL-2.0")) == "EPL-2.0"
    assert licences.of("A.java", b" " * 4096 + b"// SPDX-License-Identifier: Zlib") == ""
    assert licences.of("A.java", b"") == ""


SAID = {
    "Apache-2.0": "Apache License\nVersion 2.0, January 2004\nhttp://www.apache.org/licenses/",
    "MIT": f"The MIT License (MIT)\nCopyright (c) 2020\n{MIT}",
    "unknown": "You may look at this.",
}


def licence(root: Path, path: str) -> str:
    """What a new look says, and the same where nothing was looked up before."""
    found = Licences(root, [path]).of(path, b"class A {}")
    assert Licences(root, []).of(path, b"class A {}") == found
    return found


@pytest.mark.parametrize("name", ["LICENSE", "LICENCE.txt", "license.md", "COPYING", "Copying.TXT"])
def test_the_nearest_licence_file_counts(tmp_path, name):
    write(tmp_path, {name: SAID["Apache-2.0"], f"a/b/{name}": SAID["MIT"], f"x/{name}": SAID["unknown"]})
    write(tmp_path, {"a/c/LICENSE-3RD-PARTY": SAID["MIT"], "a/c/LicenseFile.java": ""})
    places = ["A.java", "a/A.java", "a/c/A.java", "a/b/A.java", "a/b/c/d/A.java", "x/y/A.java", "missing/A.java"]
    assert [licence(tmp_path, path) for path in places] == [
        *("Apache-2.0", "Apache-2.0", "Apache-2.0", "MIT", "MIT", "", "Apache-2.0")
    ]


def test_licence_files_that_differ_are_not_chosen_from(tmp_path):
    write(tmp_path, {"LICENSE": SAID["MIT"], "COPYING": SAID["MIT"], "a/LICENSE": SAID["MIT"]})
    write(tmp_path, {"a/COPYING": SAID["Apache-2.0"], "b/COPYING": SAID["MIT"], "b/COPYING.LESSER": SAID["unknown"]})
    assert [licence(tmp_path, f"{folder}A.java") for folder in ("", "a/", "b/")] == ["MIT", "", ""]


def test_links_to_licence_files_are_followed_inside_of_the_tree_only(tmp_path):
    root = write(tmp_path / "root", {"texts/MIT.txt": SAID["MIT"], "LICENSE": SAID["Apache-2.0"]})
    write(tmp_path, {"outside": SAID["MIT"]})
    for folder, target in {"in": root / "texts/MIT.txt", "out": tmp_path / "outside", "lost": "nowhere"}.items():
        (root / folder).mkdir()
        (root / folder / "LICENSE").symlink_to(target)
    (root / "round").mkdir()
    (root / "round/LICENSE").symlink_to("LICENSE")
    found = [licence(root, f"{folder}/A.java") for folder in ("in", "out", "lost", "round", "texts")]
    assert found == ["MIT", "", "", "", "Apache-2.0"]


def test_many_folders_inside_each_other_are_no_trouble(tmp_path):
    write(tmp_path, {"LICENSE": SAID["MIT"]})
    assert licence(tmp_path, f"{'a/' * 1500}A.java") == "MIT"


def pom(*licences: str, before: str = "", inside: str = "") -> str:
    items = "".join(f"<license>{each}</license>" for each in licences)
    start = f'<?xml version="1.0"?>{before}<project xmlns="http://maven.apache.org/POM/4.0.0">'
    return f"{start}<!-- <licenses/> -->{inside}<licenses>{items}</licenses></project>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (pom("<name>Apache License, Version 2.0</name><url>https://example.org</url>"), "Apache-2.0"),
        (pom("<name>\n  The MIT License\n</name>", "<name>EPL 2.0</name>"), "MIT OR EPL-2.0"),
        (pom("<name>BSD</name><url>https://opensource.org/licenses/BSD-3-Clause</url>"), "BSD-3-Clause"),
        (pom("<name>Ours</name><url>https://www.gnu.org/licenses/lgpl-2.1.en.html</url>"), "LGPL-2.1-only"),
        (pom("<name>MIT</name>", "<name>Ours</name>"), ""),
        (pom("<url>x</url>"), ""),
        (pom(), ""),
        (pom("<name>MI&#84;</name>"), "MIT"),
        (pom("<name><![CDATA[MIT]]></name>"), "MIT"),
        (pom(inside="<build><licenses><license><name>MIT</name></license></licenses></build>"), ""),
        (pom("<name>&own;</name>", before='<!DOCTYPE p [<!ENTITY own "MIT">]>'), ""),
        (pom("<name>MIT</name>", before='<!DOCTYPE p SYSTEM "http://127.0.0.1:9/p.dtd">'), ""),
        (pom("<name>MIT</name>")[:-10], ""),
        ("", ""),
        ("<a>" * 100_000, ""),
        ('<?xml version="1.0" encoding="none-such"?><project/>', ""),
    ],
)
def test_a_pom_names_licences(text, expected):
    assert of_pom(text.encode()) == expected


def test_the_nearest_pom_counts_where_no_licence_file_says_more(tmp_path):
    mit, epl = pom("<name>MIT</name>"), pom("<name>EPL 2.0</name>")
    write(tmp_path, {"pom.xml": mit, "a/pom.xml": epl, "a/b/pom.xml": "<project/>", "LICENSE": SAID["unknown"]})
    write(tmp_path, {"c/LICENSE": SAID["Apache-2.0"], "c/pom.xml": mit, "d/LICENSE": SAID["unknown"]})
    places = {"": "MIT", "a/b/": "EPL-2.0", "c/": "Apache-2.0", "d/": ""}  # d: what holds above does not hold there
    assert {folder: licence(tmp_path, f"{folder}A.java") for folder in places} == places


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("The Apache Software License, Version 2.0", "Apache-2.0"),
        ("Apache 2.0", "Apache-2.0"),
        ("Apache License 2.0 with LLVM exceptions", ""),
        (
            "GNU General Public License, version 2 (GPL2), with the classpath exception",
            "GPL-2.0-only WITH Classpath-exception-2.0",
        ),
        ("GNU Lesser General Public License v3.0 or later", "LGPL-3.0-or-later"),
        ("GNU Lesser General Public Licence", ""),
        ("MIT-0", ""),
        ("BSD-style", ""),
        ("BSD-2-Clause-alike", ""),
        ("New BSD License", "BSD-3-Clause"),
        ("https://www.apache.org/licenses/LICENSE-2.0.txt", "Apache-2.0"),
        ("Eclipse Public License - v 1.0", "EPL-1.0"),
        ("MPL 2.0 or EPL 1.0", "MPL-2.0 OR EPL-1.0"),
        ("", ""),
    ],
)
def test_names_of_licences(name, expected):
    assert of_name(name) == expected


def debian(licence: str) -> str:
    start = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nLicense: MIT\n\n"
    rest = f"Files: *\nCopyright: 2020 A\n 2021 B\nLicense: {licence}\n The text.\n"
    return f"{start}Files: debian/*\nLicense: ISC\n\n{rest}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Apache-2.0", "Apache-2.0"),
        ("Expat", "MIT"),
        ("BSD-3-clause", "BSD-3-Clause"),
        ("GPL-2+", "GPL-2.0-or-later"),
        ("GPL-2 with Classpath exception", "GPL-2.0-only WITH Classpath-exception-2.0"),
        ("LGPL-2.1+ or MPL-1.1, or GPL-3", "LGPL-2.1-or-later OR MPL-1.1 OR GPL-3.0-only"),
        ("Expat and ISC", "MIT AND ISC"),
        ("GPL-2+ or Expat, and ISC", ""),
        ("BSD-3-clause-alike", ""),
        ("GPL", ""),
    ],
)
def test_the_copyright_file_of_a_debian_package(tmp_path, name, expected):
    assert of_debian_copyright(debian(name)) == expected
    assert of_debian_copyright(debian(name).removeprefix("Format")) == ""
    write(tmp_path, {"debian/copyright": debian(name), "a/debian/copyright": debian("ISC"), "b/LICENSE": SAID["MIT"]})
    assert [licence(tmp_path, f"{folder}A.java") for folder in ("", "a/", "b/")] == [expected, expected, "MIT"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Apache-2.0", "Apache-2.0"),
        ("BSD", "BSD-3-Clause"),
        ("CC0-1.0", "CC0-1.0"),
        ("GPL-1", "GPL-1.0-only"),
        ("GPL-2", "GPL-2.0-only"),
        ("GPL-3", "GPL-3.0-only"),
        ("LGPL-2", "LGPL-2.0-only"),
        ("LGPL-2.1", "LGPL-2.1-only"),
        ("LGPL-3", "LGPL-3.0-only"),
        ("MPL-1.1", "MPL-1.1"),
        ("MPL-2.0", "MPL-2.0"),
        ("Artistic", ""),
        ("GFDL-1.3", ""),
    ],
)
def test_whole_texts_of_licences(name, expected):
    if not (COMMON / name).is_file():
        pytest.skip(f"needs the licence texts of a Debian system, {COMMON / name}")
    text = (COMMON / name).read_text("utf-8")
    assert of_file(text) == expected
    assert of_file(f"{text}\nBundled parts: the MIT License") == expected  # "" too: what follows does not count


def test_headers_of_the_jdk(jdk_zip, tmp_path):
    licences, counts = Licences(tmp_path, []), Counter()
    with zipfile.ZipFile(jdk_zip) as archive:
        for name in archive.namelist():
            if name.startswith("java.base/java/") and name.endswith(".java"):
                counts[licences.of(name, archive.read(name))] += 1
    assert sum(counts.values()) > 1000
    assert set(counts) == {"GPL-2.0-only WITH Classpath-exception-2.0"}


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ("commons-math3", {"Apache-2.0": 1617}),
        ("libcommons-lang3-java", {"Apache-2.0": 401}),
        ("h2database", {"MPL-2.0 OR EPL-1.0": 1137, "MPL-2.0 OR EPL-1.0 OR LGPL-3.0-or-later": 1, "": 1}),
        ("libjfreechart-java", {"LGPL-2.1-or-later": 1010, "BSD-3-Clause": 4, "": 3}),
    ],
)
def test_headers_of_packages(tmp_path, package, expected):
    """The empty ones: the BSD terms of another's code below a choice; no header, and no licence file in this test."""
    places = [place / "data" / "raw" / "debian_sample" for place in (REPOSITORY, REPOSITORY.parent / "lab")]
    found = [archive for place in places for archive in place.glob(f"{package}_*.orig.tar.*")]
    if not found:
        pytest.skip(f"needs the source archive of {package} in data/raw/debian_sample")
    licences = Licences(tmp_path, [])
    assert Counter(licences.of(file.path, file.data) for file in read_java_files(found[0], package, print)) == expected

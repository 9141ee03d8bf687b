"""What packages are made from agrees: the recipe for conda and the citation with pyproject.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NAMES = {"matplotlib": "matplotlib-base"}  # without its windows


def test_the_conda_recipe_has_the_project_s_dependencies() -> None:
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    wanted = {"python >=3.11"}
    for one in PROJECT["project"]["dependencies"]:
        name, version = one.split(">=")
        wanted.add(f"{NAMES.get(name, name.lower())} >={version}")
    assert set(recipe["requirements"]["run"]) == wanted
    assert f"python {PROJECT['project']['requires-python']}" in recipe["requirements"]["host"]
    build = PROJECT["build-system"]["requires"]
    assert {one.replace(">=", " >=") for one in build} <= set(recipe["requirements"]["host"])
    (script,) = PROJECT["project"]["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [" = ".join(script)]


def test_versions_are_one() -> None:
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert recipe["package"]["version"] == citation["version"] == PROJECT["project"]["version"]

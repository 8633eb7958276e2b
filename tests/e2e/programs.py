"""The pinned programs of a real control plane, built once and kept outside the checkout.

Owns which program is built from which go.mod under ``programs/``, where the result is cached, and
which environment variable names a ready-made one instead. Leaves starting them to
:mod:`.control_plane`. Source: design/cluster.md, "Programs".
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MODULES = Path(__file__).with_name("programs")
KUBERNETES_VERSION = "v1.36.3"
STRIPPED = "-s -w"
VERSIONED = " ".join(
    (
        STRIPPED,
        f"-X k8s.io/component-base/version.gitVersion={KUBERNETES_VERSION}",
        "-X k8s.io/component-base/version.gitMajor=1",
        "-X k8s.io/component-base/version.gitMinor=36",
    )
)
"""Without these link flags the API server reports a version that kubectl can't read."""


class ProgramError(RuntimeError):
    """A program can't be had; the message says what to install or to set."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program: the folder under ``programs/`` that pins it, its package, and its override."""

    name: str
    module: str
    package: str
    override: str
    link: str = STRIPPED


PROGRAMS = (
    *(
        Program(name, "kubernetes", f"k8s.io/kubernetes/cmd/{name}", override, VERSIONED)
        for name, override in (
            ("kube-apiserver", "KUBE_APISERVER"),
            ("kube-controller-manager", "KUBE_CONTROLLER_MANAGER"),
            ("kube-scheduler", "KUBE_SCHEDULER"),
            ("kubectl", "KUBECTL"),
        )
    ),
    Program("etcd", "etcd", "go.etcd.io/etcd/server/v3", "ETCD"),
    Program("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok", "KWOK"),
    Program("karpenter", "karpenter", "sigs.k8s.io/karpenter/kwok", "KARPENTER"),
)


def cache_directory(environment: Mapping[str, str]) -> Path:
    """Where built programs are kept: below XDG_CACHE_HOME, or ``~/.cache``; never in the checkout."""
    base = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "noderotation-e2e"


def programs(say: Callable[[str], None] = print) -> dict[str, Path]:
    """Every program by name, building what is missing.

    An interrupted call loses only the program that was being built. Raises :class:`ProgramError`
    when an override names no file, when there is no Go, or when a build fails.
    """
    found: dict[str, Path] = {}
    wanted: list[Program] = []
    for program in PROGRAMS:
        override = os.environ.get(program.override)
        if override is None:
            wanted.append(program)
        else:
            found[program.name] = _existing(program.override, override)
    if wanted:
        version = _go(MODULES, "env", "GOVERSION").strip()
        cache = cache_directory(os.environ)
        cache.mkdir(parents=True, exist_ok=True)
        with _only_one_builder(cache / "lock", say):
            for program in wanted:
                found[program.name] = _build(program, cache, version, say)
    return found


def metacontroller() -> Path | None:
    """A real Metacontroller, when METACONTROLLER names one or one is on PATH; else None."""
    named = os.environ.get("METACONTROLLER")
    if named:
        return _existing("METACONTROLLER", named)
    on_path = shutil.which("metacontroller")
    return Path(on_path) if on_path else None


def source(module: str, path: str) -> Path:
    """The folder that holds Go module ``path`` in the version that ``programs/<module>`` pins."""
    answer = json.loads(_go(MODULES / module, "mod", "download", "-json", path))
    return Path(answer["Dir"])


def _existing(variable: str, value: str) -> Path:
    found = shutil.which(value)
    if found is None:
        message = f"{variable}={value} is no program that can be run"
        raise ProgramError(message)
    return Path(found)


def _key(program: Program, version: str) -> str:
    """What the binary depends on, in short: its pins, the flags and the compiler."""
    folder = MODULES / program.module
    parts = [version, program.package, program.link]
    parts += [(folder / name).read_text() for name in ("go.mod", "go.sum")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _build(program: Program, cache: Path, version: str, say: Callable[[str], None]) -> Path:
    target = cache / f"{program.name}-{_key(program, version)}"
    if target.exists():
        return target
    say(f"building {program.name} (the first time this takes minutes) ...")
    # Not under its final name until it is whole, so that a killed build is simply done again.
    unfinished = target.with_name(f"{target.name}.unfinished")
    flags = ("-trimpath", "-ldflags", program.link, "-o", str(unfinished))
    _go(MODULES / program.module, "build", *flags, program.package)
    unfinished.replace(target)
    return target


def _go(folder: Path, *arguments: str) -> str:
    go = shutil.which("go")
    if go is None:
        names = ", ".join(program.override for program in PROGRAMS)
        message = f"the end-to-end tests need Go 1.26 on PATH, or programs named by {names}"
        raise ProgramError(message)
    # A workspace above the checkout must not change what is pinned here.
    environment = {**os.environ, "GOWORK": "off"}
    done = subprocess.run(
        [go, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        message = f"go {' '.join(arguments)} failed in {folder}:\n{done.stderr}"
        raise ProgramError(message)
    return done.stdout


@contextmanager
def _only_one_builder(lock: Path, say: Callable[[str], None]) -> Iterator[None]:
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another build to end ({lock}) ...")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    try:
        built = programs(lambda text: print(text, file=sys.stderr, flush=True))
    except ProgramError as error:
        sys.exit(str(error))
    for name, path in sorted(built.items()):
        print(f"{name}\t{path}")

"""Two ways to fetch public jars by their coordinates: Maven, and the Ivy that comes inside PySpark.

Coordinates are ``group:artifact:version``, with ``:classifier`` where a jar has one.

Neither is told a repository: both use their own default, or what the machine's Maven settings say.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from tests.live import truststore
from tests.live.java import java_command

IVY_SETTINGS = """<ivysettings>
  <caches defaultCacheDir={cache}/>
  <settings defaultResolver="public"/>
  <resolvers><ibiblio name="public" m2compatible="true" usepoms="{use_poms}"/></resolvers>
</ivysettings>
"""
IVY_MODULE = """<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="kafka-capacity" module="live-tests"/>
  <configurations><conf name="runtime"/></configurations>
  <dependencies>
{dependencies}
{exclusions}
  </dependencies>
</ivy-module>
"""
MAVEN_PROJECT = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafka-capacity</groupId><artifactId>live-tests</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""
MAVEN_DEPENDENCY = (
    "    <dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{}"
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>"
)


def file_name(coordinates: str) -> str:
    group, _, rest = coordinates.partition(":")
    return f"{group}.{rest.replace(':', '-')}.jar"


def fetchers() -> list[Callable[[list[str], Path], str]]:
    """Return the ways there are here, the faster first; what the first cannot fetch goes to the next."""
    return [fetch_by_maven, fetch_by_ivy] if shutil.which("mvn") else [fetch_by_ivy]


def fetch_by_maven(coordinates: list[str], folder: Path) -> str:
    """Copy exactly these jars, without their dependencies, and give what Maven printed."""
    lines = [
        MAVEN_DEPENDENCY.format(
            *name.split(":")[:3], "".join(f"<classifier>{one}</classifier>" for one in _classifier(name))
        )
        for name in coordinates
    ]
    project = folder / "pom.xml"
    project.write_text(MAVEN_PROJECT.format(dependencies="\n".join(lines)), encoding="utf-8")
    options = ["-Dmdep.prependGroupId=true", f"-DoutputDirectory={folder}"]
    command = ["mvn", "-B", "-q", "-f", str(project), "dependency:copy-dependencies", *options]
    return _run(command).stdout


def fetch_by_ivy(coordinates: list[str], folder: Path) -> str:
    """Copy exactly these jars, without their dependencies, and give what Ivy printed."""
    return _run_ivy(coordinates, folder, transitive=False)


def resolve_by_ivy(roots: list[str], folder: Path, *, left_out: Sequence[str] = ()) -> list[str]:
    """Copy these jars and all that they need at run time, but for what is left out, and name them."""
    pattern = "[organisation]:[artifact]:[revision].[ext]"
    _run_ivy(roots, folder, transitive=True, pattern=pattern, left_out=left_out)
    found = sorted(path.name.removesuffix(".jar") for path in folder.glob("*:*:*.jar"))
    for name in found:
        (folder / f"{name}.jar").rename(folder / file_name(name))
    return found


def _run_ivy(
    coordinates: list[str],
    folder: Path,
    *,
    transitive: bool,
    pattern: str = "[organisation].[artifact]-[revision](-[classifier]).[ext]",
    left_out: Sequence[str] = (),
) -> str:
    work = folder / "ivy"
    work.mkdir()
    settings, module = work / "settings.xml", work / "ivy.xml"
    use_poms = str(transitive).lower()
    settings.write_text(IVY_SETTINGS.format(cache=quoteattr(str(work / "cache")), use_poms=use_poms), encoding="utf-8")
    exclusions = "\n".join('    <exclude org="{}" module="{}"/>'.format(*name.split(":")) for name in left_out)
    dependencies = _ivy_dependencies(coordinates, transitive)
    module.write_text(IVY_MODULE.format(dependencies=dependencies, exclusions=exclusions), encoding="utf-8")
    command = java_command(
        "org.apache.ivy.Main",
        *("-settings", str(settings), "-ivy", str(module), "-types", "jar", "bundle"),
        *("-retrieve", str(folder / pattern)),
        class_path=str(_ivy_jar()),
        options=truststore.java_options(work),
    )
    done = _run(command)
    if transitive and done.returncode:
        raise RuntimeError(f"Ivy could not resolve {', '.join(coordinates)}:\n{done.stdout[-2000:]}")
    return done.stdout


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900
    )


def _ivy_dependencies(coordinates: list[str], transitive: bool) -> str:
    conf = 'conf="runtime->default(compile),runtime"' if transitive else 'transitive="false"'
    jars: dict[str, list[str]] = {}
    for name in coordinates:
        jars.setdefault(":".join(name.split(":")[:3]), []).extend(_classifier(name) or [""])
    lines = []
    for module, classifiers in jars.items():
        group, artifact, version = module.split(":")
        named = [f' m:classifier="{one}"' if one else "" for one in classifiers] if any(classifiers) else []
        artifacts = "".join(f'<artifact name="{artifact}" type="jar" ext="jar"{one}/>' for one in named)
        lines.append(f'    <dependency org="{group}" name="{artifact}" rev="{version}" {conf}>{artifacts}</dependency>')
    return "\n".join(lines)


def _classifier(coordinates: str) -> list[str]:
    return coordinates.split(":")[3:]


def _ivy_jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise RuntimeError("there is neither a Maven nor a PySpark here to fetch Kafka's jars with")
    home = os.environ.get("SPARK_HOME", str(Path(spec.origin).parent))
    for folder in (Path(home) / "jars", Path(spec.origin).parent / "jars"):
        for jar in folder.glob("ivy-2*.jar"):
            return jar
    raise RuntimeError(f"no Ivy in {home}/jars")

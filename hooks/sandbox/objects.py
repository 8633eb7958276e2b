"""Reading Kubernetes objects in their JSON form.

Owns nothing but the way into ``metadata``; objects are plain dicts exactly as they came over the
wire, so that a hook sees them whole.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Obj: TypeAlias = dict[str, Any]
"""A decoded JSON object."""


def metadata_of(obj: Obj) -> Obj:
    """Return the metadata, empty when there is none."""
    metadata: Obj = obj.get("metadata") or {}
    return metadata


def name_of(obj: Obj) -> str:
    """Return the name, empty when there is none."""
    name: str = metadata_of(obj).get("name", "")
    return name


def namespace_of(obj: Obj) -> str:
    """Return the namespace, empty for a cluster-scoped object."""
    namespace: str = metadata_of(obj).get("namespace", "")
    return namespace


def uid_of(obj: Obj) -> str:
    """Return the UID, empty before the object is stored."""
    uid: str = metadata_of(obj).get("uid", "")
    return uid


def resource_version_of(obj: Obj) -> str:
    """Return the opaque version of the stored object."""
    version: str = metadata_of(obj).get("resourceVersion", "")
    return version


def generation_of(obj: Obj) -> int:
    """Return the generation of the spec, 0 for kinds that have none."""
    generation: int = metadata_of(obj).get("generation", 0)
    return generation


def labels_of(obj: Obj) -> dict[str, str]:
    """Return the labels; a new dict when there are none."""
    return metadata_of(obj).get("labels") or {}


def annotations_of(obj: Obj) -> dict[str, str]:
    """Return the annotations; a new dict when there are none."""
    return metadata_of(obj).get("annotations") or {}


def is_terminating(obj: Obj) -> bool:
    """Tell whether the object is being deleted."""
    return metadata_of(obj).get("deletionTimestamp") is not None


def is_same_version(old: Obj | None, new: Obj | None) -> bool:
    """Tell whether both are there and are the same stored version, which a relist tells again."""
    if old is None or new is None:
        return False
    return resource_version_of(old) == resource_version_of(new)


def controller_ref(obj: Obj) -> Obj | None:
    """Return the owner reference that says ``controller: true``, if any."""
    references: list[Obj] = metadata_of(obj).get("ownerReferences") or []
    return next((ref for ref in references if ref.get("controller") is True), None)


def group_of(api_version: str) -> str:
    """Return the API group of ``group/version``; the core group is empty."""
    group, separator, _ = api_version.rpartition("/")
    return group if separator else ""


def group_key(api_version: str, kind: str) -> str:
    """Return the key of a kind in hook requests: ``Pod.v1``, ``NodeClaim.karpenter.sh/v1``."""
    return f"{kind}.{api_version}"


def key_in_group(obj: Obj) -> str:
    """Return the key of an object within its kind: ``namespace/name``, or ``name``."""
    namespace = namespace_of(obj)
    return f"{namespace}/{name_of(obj)}" if namespace else name_of(obj)


def described(obj: Obj) -> str:
    """Return how error messages call an object: ``Pod ns/name``."""
    return f"{obj.get('kind', '')} {key_in_group(obj)}"

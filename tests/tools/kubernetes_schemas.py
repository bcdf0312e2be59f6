#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kubernetes_schemas.py FOLDER: the schemas of our kinds of resources, of the package kubernetes-validate's newest Kubernetes, each
whole in a file, as kubeconform reads them: what they share is put in where it is referred to."""

import json
import os
import pathlib
import re
import sys

import kubernetes_validate

KINDS = ["namespace-v1", "serviceaccount-v1", "role-rbac-v1", "daemonset-apps-v1", "pod-v1"]


def newest():
    folders = pathlib.Path(kubernetes_validate.__file__).parent.glob("kubernetes-json-schema/*-local-strict")
    return max(folders, key=lambda folder: [int(number) for number in re.findall(r"\d+", folder.name)])


def whole(node, shared):
    if isinstance(node, list):
        return [whole(each, shared) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return whole(shared[node["$ref"].rsplit("/", 1)[1]], shared)
    return {key: whole(value, shared) for key, value in node.items() if key != "$schema"}


source = newest()
definitions = json.loads((source / "_definitions.json").read_text(encoding="utf-8"))["$defs"]
os.makedirs(sys.argv[1], exist_ok=True)
for kind in KINDS:
    schema = json.loads((source / f"{kind}.json").read_text(encoding="utf-8"))
    (pathlib.Path(sys.argv[1]) / f"{kind}.json").write_text(json.dumps(whole(schema, definitions)), encoding="utf-8")
print(source.name)

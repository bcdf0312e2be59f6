#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the functions and options in profbpf's advice exist in the framework.

usage: advice_names.py operator_advice.c FRAMEWORK      FRAMEWORK: MindData torch tf.data MegEngine

Prints each name and its place in the framework. Ends with status 1 if one is missing.
"""
import inspect
import re
import sys

ROW = re.compile(r'\{ "([^"]+)", ADVISE_\w+, "[^"]*",\s*(?:N_\()?((?:"[^"]*"\s*)+)\)?\s*\}')
# The form of a name in a sentence: name(), name=, with a dot or an underscore, or in CamelCase.
NAME = re.compile(r"[A-Za-z_][\w.]*(?=\(|=)|[A-Za-z]\w*_\w+|[A-Za-z]\w*(?:\.[A-Za-z]\w*)+|[A-Z]+[a-z]+[A-Z]\w*|AUTOTUNE")
PROSE = {"MindSpore", "TensorFlow", "MindRecord", "TFRecord"}


def minddata():
    import mindspore.dataset as ds
    from mindspore.dataset.engine import datasets
    calls = [ds.GeneratorDataset, ds.ImageFolderDataset, ds.MindDataset, datasets.Dataset.map, datasets.MapDataset,
             datasets.Dataset.batch, datasets.BatchDataset, datasets.Dataset.padded_batch, datasets.Dataset.filter]
    return {"dataset": ds}, [ds, ds.config, datasets.Dataset], calls


def torch():
    import torch as module
    from torch.utils import data
    return {"torch": module}, [data], [data.DataLoader]


def tf_data():
    import tensorflow as tf
    of = tf.data.Dataset
    calls = [of.map, of.batch, of.interleave]
    return {"tf": tf}, [tf.data, tf, of, tf.data.Options()], calls


def megengine():
    from megengine import data
    return {}, [data], [data.DataLoader]


FRAMEWORKS = {"MindData": minddata, "torch": torch, "tf.data": tf_data, "MegEngine": megengine}


def reach(thing, path):
    for part in path:
        if not hasattr(thing, part):
            return False
        thing = getattr(thing, part)
    return True


def where(name, roots, places, calls):
    path = name.split(".")
    if path[0] in roots and reach(roots[path[0]], path[1:]):
        return path[0]
    for place in places:
        if reach(place, path):
            return getattr(place, "__name__", type(place).__name__)
    for call in calls:
        if name in inspect.signature(call).parameters:
            return f"{call.__qualname__}()"
    return None


def main():
    source, framework = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        rows = ROW.findall(file.read())
    texts = [re.sub(r'"\s*"', "", text).strip().strip('"') for name, text in rows if name == framework]
    if not texts:
        sys.exit(f"no advice for {framework} in {source}")
    names = sorted({name for text in texts for name in NAME.findall(text)} - PROSE)
    found = FRAMEWORKS[framework]()
    wrong = 0
    for name in names:
        at = where(name, *found)
        wrong += at is None
        print(f"{framework}: {name}: {at or 'IS NOT THERE'}")
    print(f"{framework}: {len(texts)} sentences, {len(names)} names, {wrong} wrong")
    sys.exit(min(wrong, 1))


main()

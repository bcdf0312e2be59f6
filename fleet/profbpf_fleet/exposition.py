# SPDX-License-Identifier: Apache-2.0
"""exposition.py - metrics as text, in the format that the textfile collector of Prometheus' node exporter reads."""

from profbpf_fleet.messages import write_file


def escaped(value):
    return str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class Exposition:
    """Metrics with a common prefix of their names; write() when all are there."""

    def __init__(self, prefix):
        self.prefix, self.lines = prefix, []

    def metric(self, name, kind, text, samples):
        """samples: (labels, value), or (labels, value, suffix of the name)."""
        self.lines.extend([f"# HELP {self.prefix}{name} {text}", f"# TYPE {self.prefix}{name} {kind}"])
        for labels, value, *end in samples:
            told = ",".join(f'{label}="{escaped(labels[label])}"' for label in labels)
            self.lines.append(f"{self.prefix}{name}{''.join(end)}{'{' + told + '}' if told else ''} {value}")

    def text(self):
        return "\n".join(self.lines) + "\n"

    def write(self, path):
        write_file(path, self.text().encode())

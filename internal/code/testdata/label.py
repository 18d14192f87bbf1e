"""Labels real and mutated sources by a language's own parser, for TestAccuracy.

    python3 testdata/label.py python /usr/lib/python3 4000 > /tmp/python.jsonl
    go test . -run TestAccuracy -v -labels /tmp/python.jsonl -language python

Languages: python (this interpreter's ast), toml (tomllib), bash (bash -n), rust (rustfmt), solidity (solc).
Half of the sources are files as they are; the others are files with one mistake made in them at random.
"""

import ast
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")


def by_ast(source):
    try:
        ast.parse(source)
        return True
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError):
        return None


def by_tomllib(source):
    import tomllib

    try:
        tomllib.loads(source)
        return True
    except tomllib.TOMLDecodeError:
        return False


def by_program(*command, wrong=r"(?m)^(parser)?error", ignore=()):
    def label(source):
        done = subprocess.run(command, input=source.encode(), capture_output=True, cwd=tempfile.gettempdir())
        said = (done.stdout if command[0] == "solc" else b"") + done.stderr
        lines = [line for line in said.decode(errors="replace").splitlines() if re.match(wrong, line, re.I)]
        return not [line for line in lines if not any(text in line for text in ignore)]

    return label


LANGUAGES = {
    "python": (".py", by_ast),
    "toml": (".toml", by_tomllib),
    "bash": (".sh", by_program("bash", "-n", wrong="bash: ")),
    "rust": (".rs", by_program("rustfmt", "--edition", "2021", "--emit", "stdout", ignore=["file not found for module"])),
    "solidity": (".sol", by_program("solc", "--stop-after", "parsing", "-", ignore=["not found", "compiler version"])),
}


def mutate(source):
    brackets = [m.start() for m in re.finditer(r"[()\[\]{}]", source)]
    tokens = list(re.finditer(r"\w+|[^\w\s]", source))
    kind = random.randrange(8)
    if not brackets or len(tokens) < 4:
        kind = 2
    at = random.choice(brackets) if brackets else 0
    token = random.randrange(max(len(tokens) - 1, 1))
    if kind == 0:  # a bracket less
        return source[:at] + source[at + 1 :]
    if kind == 1:  # a bracket more
        return source[:at] + source[at] + source[at:]
    if kind == 2:  # cut off
        return source[: random.randrange(len(source))]
    if kind == 3:  # an elision
        at = random.randrange(len(source))
        return source[:at] + "..." + source[at:]
    if kind == 4:  # a line less
        lines = source.split("\n")
        del lines[random.randrange(len(lines))]
        return "\n".join(lines)
    a, b = tokens[token], tokens[token + 1]
    if kind == 5:  # a token less
        return source[: a.start()] + source[a.end() :]
    if kind == 6:  # a token more
        return source[: a.start()] + a.group() + " " + source[a.start() :]
    return source[: a.start()] + b.group() + source[a.end() : b.start()] + a.group() + source[b.end() :]


def main():
    language, folder, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
    suffix, label = LANGUAGES[language]
    random.seed(1)
    files = sorted(os.path.join(d, f) for d, _, names in os.walk(folder) for f in names if f.endswith(suffix))
    random.shuffle(files)
    written = 0
    for path in files:
        try:
            source = open(path, encoding="utf-8").read()
        except (OSError, UnicodeDecodeError):
            continue
        if language == "solidity":  # any version will do
            source = re.sub(r"pragma solidity[^;]*;", "pragma solidity >=0.4.0;", source)
        if not 20 < len(source) < 60000:
            continue
        for text in (source, mutate(source)):
            verdict = label(text)
            if verdict is not None:
                print(json.dumps({"file": path, "source": text, "valid": verdict}))
                written += 1
        if written >= most:
            break


main()

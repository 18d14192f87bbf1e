import ast, json, sys

results = []
for source in json.load(sys.stdin):
    try:
        ast.parse(source)
        results.append({"OK": True})
    except SyntaxError as e:
        results.append({"Line": e.lineno or 1, "Col": e.offset or 1, "Message": e.msg})
    except ValueError as e:
        results.append({"Line": 1, "Col": 1, "Message": str(e)})
    except (MemoryError, RecursionError):
        results.append({})
json.dump(results, sys.stdout)

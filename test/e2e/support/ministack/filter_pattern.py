"""CloudWatch Logs filter patterns, after AWS's "Filter pattern syntax": terms for text, { … } for JSON.

matches(pattern, message) -> bool. A pattern that cannot be read raises ValueError, as PutSubscriptionFilter would refuse it.
"""

import json
import re

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<op>&&|\|\||!=|<=|>=|[=<>(){}])
      | "(?P<string>(?:[^"\\]|\\.)*)"
      | %(?P<regex>[^%]*)%
      | (?P<word>[^\s"%()={}<>!&|]+)
    )""",
    re.VERBOSE,
)
_STEP = re.compile(r"""\.?(?P<name>[^.\[\]]+)|\[(?P<index>\d+|\*)\]|\[["'](?P<quoted>[^"']+)["']\]""")
_compiled = {}


def matches(pattern, message):
    """Whether the log event's message matches."""
    if pattern not in _compiled:
        _compiled[pattern] = _compile(pattern)
    return _compiled[pattern](message)


def _compile(pattern):
    text = pattern.strip()
    if not text:
        return lambda message: True
    return _json(text) if text.startswith("{") else _terms(text)


def _terms(text):
    """All terms, at least one of the ?terms if there are any, none of the -terms. Case counts."""
    every, some, none = [], [], []
    for sign, quoted, bare in re.findall(r'([?-]?)(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))', text):
        term = quoted.replace('\\"', '"') if quoted else bare
        {"": every, "?": some, "-": none}[sign].append(term)
    return lambda message: (
        all(t in message for t in every) and not any(t in message for t in none) and (not some or any(t in message for t in some))
    )


class _Parser:
    def __init__(self, text):
        self.tokens, at = [], 0
        while at < len(text.rstrip()):
            m = _TOKEN.match(text, at)
            if not m:
                raise ValueError(f"filter pattern: cannot read {text[at:]!r}")
            self.tokens.append((m.lastgroup, m.group(m.lastgroup)))
            at = m.end()
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else (None, None)

    def take(self, *wanted):
        token = self.peek()
        if wanted and token[1] not in wanted:
            raise ValueError(f"filter pattern: {token[1]!r} where {' or '.join(wanted)} should be")
        self.at += 1
        return token

    def either(self):
        terms = [self.both()]
        while self.peek() == ("op", "||"):
            self.take()
            terms.append(self.both())
        return lambda event: any(t(event) for t in terms)

    def both(self):
        terms = [self.one()]
        while self.peek() == ("op", "&&"):
            self.take()
            terms.append(self.one())
        return lambda event: all(t(event) for t in terms)

    def one(self):
        if self.peek() == ("op", "("):
            self.take()
            inner = self.either()
            self.take(")")
            return inner
        kind, selector = self.take()
        if kind != "word" or not selector.startswith("$"):
            raise ValueError(f"filter pattern: {selector!r} where a selector ($.…) should be")
        select = _selector(selector)
        kind, op = self.take("=", "!=", "<", "<=", ">", ">=", "IS", "NOT")
        if op == "NOT":
            self.take("EXISTS")
            return lambda event: not select(event)
        if op == "IS":
            wanted = {"NULL": None, "TRUE": True, "FALSE": False}[self.take("NULL", "TRUE", "FALSE")[1]]
            return lambda event: any(v is wanted for v in select(event))
        return _comparison(select, op, *self.take())


def _selector(text):
    steps, at = [], 1
    while at < len(text):
        m = _STEP.match(text, at)
        if not m:
            raise ValueError(f"filter pattern: cannot read the selector {text!r}")
        steps.append(m.group("name") or m.group("quoted") or (m.group("index") if m.group("index") == "*" else int(m.group("index"))))
        at = m.end()

    def select(event):
        found = [event]
        for step in steps:
            if step == "*":
                found = [v for f in found if isinstance(f, list) for v in f]
            elif isinstance(step, int):
                found = [f[step] for f in found if isinstance(f, list) and len(f) > step]
            else:
                found = [f[step] for f in found if isinstance(f, dict) and step in f]
        return found

    return select


def _comparison(select, op, kind, value):
    if kind not in ("string", "word", "regex"):
        raise ValueError(f"filter pattern: {value!r} where a value should be")
    if kind == "word" and re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", value):
        number = float(value)
        compare = {"=": number.__eq__, "!=": number.__ne__, "<": number.__gt__, "<=": number.__ge__, ">": number.__lt__, ">=": number.__le__}[op]
        return lambda event: any(not isinstance(v, bool) and isinstance(v, (int, float)) and compare(float(v)) for v in select(event))
    if op not in ("=", "!="):
        raise ValueError(f"filter pattern: {op} compares numbers, not {value!r}")
    wanted = re.compile(value if kind == "regex" else ".*".join(re.escape(part) for part in value.split("*")), re.DOTALL)
    fits = wanted.search if kind == "regex" else wanted.fullmatch
    return lambda event: any(isinstance(v, str) and bool(fits(v)) == (op == "=") for v in select(event))


def _json(text):
    parser = _Parser(text)
    parser.take("{")
    condition = parser.either()
    parser.take("}")
    if parser.at < len(parser.tokens):
        raise ValueError(f"filter pattern: {parser.peek()[1]!r} after the closing brace")

    def check(message):
        try:
            event = json.loads(message)
        except ValueError:
            return False
        return condition(event)

    return check

import { describe, expect, it } from "vitest";
import { compileExpression } from "#core/cel/compile.ts";
import type { Type, Value } from "#core/cel/types.ts";
import { compileKubeletExpression, expressionProblems, reservedQuantity } from "#core/node-class/kubelet-expressions.ts";
import golden from "../../kubelet-cel/kubelet.golden.json" with { type: "json" };
import { agree, ourAnswer } from "../../kubelet-cel/ours.ts";

const SCOPE: ReadonlyMap<string, Type> = new Map<string, Type>([["x", "int"]]);
const value = (text: string, x = 4n): Value => compileExpression(text, SCOPE).evaluate(new Map([["x", x]]));

describe("expressions", () => {
  it.for(golden.answers)("$expression has Karpenter's values", ({ expression, ...theirs }) => {
    expect(
      agree(theirs as Parameters<typeof agree>[0], ourAnswer(expression, golden.types as unknown as Parameters<typeof ourAnswer>[1])),
    ).toBe(true);
  });

  it.for([
    { text: "vcpu", says: "there is no variable vcpu; there are x" },
    { text: "f(x)", says: "there is no function f" },
    { text: "x * 1.5", says: "* does not take (int, double)" },
    { text: "x.startsWith('a')", says: "startsWith() does not take (int, string)" },
    { text: "x ? 1 : 2", says: "? takes bool, not int" },
    { text: "x > 1 ? 1 : 2.0", says: "a choice has items of one type, not int and double" },
    { text: "x in 1", says: "in does not take (int, int)" },
    { text: "(x", says: "it ends too early" },
    { text: "x y", says: '"y" at character 3 is not expected there' },
    { text: "x # 1", says: '"# 1" at character 3 cannot be read' },
    { text: `${"(".repeat(101)}x${")".repeat(101)}`, says: "it is nested more than 100 deep" },
    { text: "1 + ".repeat(2000), says: "it has 8000 characters; at most 4096 are read" },
  ])("$text cannot be read: $says", ({ text, says }) => {
    expect(() => value(text)).toThrow(says);
  });

  it("macros of one evaluation look at a bounded number of items", () => {
    const list = `[${"1,".repeat(120)}]`;
    expect(value(`size(${list}.map(a, ${list}.size()))`)).toBe(120n);
    expect(() => value(`size(${list}.map(a, ${list}.map(b, ${list}.map(c, c))))`)).toThrow("it takes too many steps");
    expect(() => value(`x > 0 || ${list}.all(a, ${list}.all(b, ${list}.all(c, c > 0))) ? 1 : 2`)).not.toThrow();
  });

  it("a search by a pattern takes bounded time: patterns that repeat groups are refused", () => {
    expect(value('"m5.large".matches("^[cm][0-9]+[.]") ? 1 : 2')).toBe(1n);
    expect(() => value('"aaaa".matches("(a+)+$") ? 1 : 2')).toThrow("does not take the pattern");
    expect(value('"aaab".matches("a*a*b") ? 1 : 2')).toBe(1n);
    expect(() => value(`"${"a".repeat(60)}".matches("a*a*a*b") ? 1 : 2`)).toThrow("does not take the pattern");
  });
});

describe("expressions of spec.kubelet", () => {
  it("names the field of an expression that cannot be read", () => {
    expect(expressionProblems({ maxPods: "vcpu * 2", kubeReserved: { cpu: "500 m", memory: "1Gi" } })).toEqual([
      expect.stringContaining(
        'spec.kubelet.maxPods: "vcpu * 2" is not an expression: there is no variable vcpu; there are vcpus, memory_mib',
      ),
      expect.stringContaining('spec.kubelet.kubeReserved[cpu]: "500 m" is neither a quantity nor an expression'),
    ]);
    expect(() => compileKubeletExpression("vcpus > 4")).toThrow("it must give an int or a double");
  });

  it("rounds up to 10 milli-CPU and 16 MiB", () => {
    expect(["cpu", "memory", "ephemeral-storage", "pid"].map((name) => reservedQuantity(name, 71n))).toEqual(["80m", "80Mi", "71Gi", "71"]);
    expect(["cpu", "memory"].map((name) => reservedQuantity(name, 0n))).toEqual(["0m", "0Mi"]);
    expect(reservedQuantity("cpu", 2n ** 63n - 1n)).toBe("9223372036854775807m");
  });
});

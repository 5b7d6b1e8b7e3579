import { describe, expect, it } from "vitest";
import { selectorTerms } from "#core/conversion/upgrade/selectors.ts";

describe("a selector of v1alpha1 as terms", () => {
  it.for([
    { name: "tags of one map must all hold", selector: { a: "1", b: "2" }, terms: [{ tags: { a: "1", b: "2" } }] },
    { name: "commas mean or", selector: { a: "1, 2" }, terms: [{ tags: { a: "1" } }, { tags: { a: "2" } }] },
    {
      name: "each combination of values is a term, tags by key",
      selector: { b: "x,y", a: "1,2" },
      terms: [
        { a: "1", b: "x" },
        { a: "1", b: "y" },
        { a: "2", b: "x" },
        { a: "2", b: "y" },
      ].map((tags) => ({ tags })),
    },
    { name: "ids stand alone", selector: { "aws-ids": "subnet-1,subnet-2" }, terms: [{ id: "subnet-1" }, { id: "subnet-2" }] },
    { name: "both spellings of ids", selector: { "aws::ids": "ami-1" }, terms: [{ id: "ami-1" }] },
    {
      name: "owners come outermost",
      selector: { "aws::name": "n", "aws::owners": "self,amazon", env: "a,b" },
      terms: [
        { tags: { env: "a" }, name: "n", owner: "self" },
        { tags: { env: "b" }, name: "n", owner: "self" },
        { tags: { env: "a" }, name: "n", owner: "amazon" },
        { tags: { env: "b" }, name: "n", owner: "amazon" },
      ],
    },
    { name: "any value is *", selector: { Name: "*" }, terms: [{ tags: { Name: "*" } }] },
    { name: "a number is text in a tag", selector: { team: 7 }, terms: [{ tags: { team: "7" } }] },
  ])("a v1alpha1 selector as terms: $name", ({ selector, terms }) => {
    expect(selectorTerms(selector)).toEqual({ terms, problems: [] });
  });

  it("ids beside other keys, which v1 refuses, are kept alone with a note", () => {
    const { terms, problems } = selectorTerms({ "aws-ids": "ami-1", env: "a" });
    expect(terms).toEqual([{ id: "ami-1" }]);
    expect(problems).toEqual([expect.stringContaining("ids beside tags")]);
  });

  it("more terms than v1 takes get a note", () => {
    const values = Array.from({ length: 6 }, (_, i) => i).join(",");
    expect(selectorTerms({ a: values, b: values }).problems).toEqual([expect.stringContaining("means 36 terms and v1 takes 30")]);
  });
});

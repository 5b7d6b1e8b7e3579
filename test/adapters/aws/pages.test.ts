import { describe, expect, it } from "vitest";
import { allPages } from "#adapters/aws/pages.ts";

interface Page {
  readonly items?: readonly string[];
  readonly next?: string;
}

const PAGES: Readonly<Record<string, Page>> = {
  first: { items: ["a", "b"], next: "second" },
  second: { next: "last" },
  last: { items: ["c"], next: "" },
};

describe("a paged answer of AWS", () => {
  it("is read to its last page, also beyond a page without items", async () => {
    const read = async (token = "first"): Promise<Page> => PAGES[token] ?? {};
    const all = await allPages(
      read,
      ({ items }) => items,
      ({ next }) => next,
    );
    expect(all).toEqual(["a", "b", "c"]);
  });

  it("fails as a whole when one of its pages does", async () => {
    const read = async (token?: string): Promise<Page> => {
      if (token !== undefined) throw Object.assign(new Error("slow down"), { $fault: "client", name: "RequestLimitExceeded" });
      return { items: ["a"], next: "second" };
    };
    const all = allPages(
      read,
      ({ items }) => items,
      ({ next }) => next,
    );
    await expect(all).rejects.toMatchObject({ name: "ThrottledError", message: "RequestLimitExceeded: slow down" });
  });
});

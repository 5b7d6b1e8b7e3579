import { expect, it } from "vitest";
import { ConflictError, NotFoundError, RefusedError } from "#core/ports/errors.ts";
import { ignoreConflict, ignoreConflictOrGone, ignoreGone, retryOnConflict } from "#functions/shared/optimistic.ts";

/** Work that fails with these errors, one a try, and then returns how often it ran. */
function failingWith(...errors: readonly Error[]): () => Promise<number> {
  let runs = 0;
  return async () => {
    const error = errors[runs++];
    if (error !== undefined) throw error;
    return runs;
  };
}

const conflict = new ConflictError("changed");
const gone = new NotFoundError("gone");
const refused = new RefusedError("refused");

it("a write that meets conflicts is tried again until it succeeds", async () => {
  expect(await retryOnConflict(3, failingWith(conflict, conflict))).toBe(3);
});

it("a write that meets conflicts in all its tries throws the last conflict", async () => {
  const last = new ConflictError("changed again");
  await expect(retryOnConflict(3, failingWith(conflict, conflict, last))).rejects.toBe(last);
});

it.for([gone, refused])("a write that fails with $name is not tried again", async (error) => {
  await expect(retryOnConflict(3, failingWith(error))).rejects.toBe(error);
});

it.for([
  { helper: ignoreConflict, ignored: [conflict], thrown: [gone, refused] },
  { helper: ignoreGone, ignored: [gone], thrown: [conflict, refused] },
  { helper: ignoreConflictOrGone, ignored: [conflict, gone], thrown: [refused] },
])("$helper.name ignores its own errors and throws all others", async ({ helper, ignored, thrown }) => {
  expect(await helper(Promise.resolve("written"))).toBe("written");
  for (const error of ignored) expect(await helper(Promise.reject(error))).toBeUndefined();
  for (const error of thrown) await expect(helper(Promise.reject(error))).rejects.toBe(error);
});

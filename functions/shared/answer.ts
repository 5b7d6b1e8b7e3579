import type { Read } from "#core/passes/verdict.ts";

/** Reads the facts of a check, by their names. A reader may read several facts at once. */
type Readers<Facts, Fact extends PropertyKey> = Readonly<Record<Fact, () => Promise<Partial<Facts>>>>;

/** Asks a check of core/passes, reads what it needs to know next, and asks again, until it has its answer. */
export async function answerOf<Facts extends object, Fact extends PropertyKey, Answer extends { readonly next: string }>(
  check: (facts: Partial<Facts>) => Answer | Read<Fact>,
  readers: Readers<Facts, Fact>,
): Promise<Answer> {
  let facts: Partial<Facts> = {};
  for (;;) {
    const answer = check(facts);
    if (!isRead(answer)) return answer;
    facts = { ...facts, ...(await readers[answer.fact]()) };
  }
}

const isRead = <Fact extends PropertyKey, Answer extends { readonly next: string }>(answer: Answer | Read<Fact>): answer is Read<Fact> =>
  answer.next === "read";

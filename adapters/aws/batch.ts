import { setTimeout as sleep } from "node:timers/promises";

/**
 * Combines the requests of a moment into one call, because an invocation reconciles many NodeClaims at once and EC2
 * throttles by calls (karpenter-provider-aws: pkg/batcher/batcher.go, Batcher.Add). Each caller gets its own answer.
 * When the common call fails and `blame` says that one bad key may be the cause, each key is requested by itself; any
 * other failure is thrown to all callers.
 * @param call returns the answers for the keys that it knows; it gets at most `most` keys
 */
export function batched<Answer>(
  call: (keys: readonly string[]) => Promise<ReadonlyMap<string, Answer>>,
  { most, waitMs, blame }: { readonly most: number; readonly waitMs: number; readonly blame: (error: unknown) => boolean },
): (key: string) => Promise<Answer | undefined> {
  let gathering: { readonly keys: Set<string>; readonly answers: Promise<(key: string) => Promise<Answer | undefined>> } | undefined;

  const open = () => {
    const keys = new Set<string>();
    const answers = (async () => {
      await sleep(waitMs);
      if (gathering?.keys === keys) gathering = undefined;
      const common = call([...keys]);
      const eachAlone = await common.then(
        () => false,
        (error: unknown) => keys.size > 1 && blame(error),
      );
      return async (key: string): Promise<Answer | undefined> => (await (eachAlone ? call([key]) : common)).get(key);
    })();
    return { keys, answers };
  };

  return async (key) => {
    gathering ??= open();
    const mine = gathering;
    mine.keys.add(key);
    if (mine.keys.size >= most) gathering = undefined;
    return (await mine.answers)(key);
  };
}

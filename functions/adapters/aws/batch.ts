import { setTimeout as sleep } from "node:timers/promises";

/**
 * Gathers what is asked for within a moment into one call: claims of one invocation are looked after at the same time, and EC2 counts calls. Each asker gets its own
 * answer. When the common call fails and one bad key may be to `blame`, each key is asked for alone; any other failure is everybody's.
 * @param call answers for the keys that it knows, at most `most` of them.
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

/**
 * A sender is noisy with more than this share of the messages in flight, of which it has so many at least, or of the
 * time that they have been in flight: then others' messages are read first ("How Amazon SQS fair queues work").
 */
const NOISY = { share: 0.1, messages: 30 };

/**
 * Which messages have a noisy sender.
 * @param inFlight since when each message is in flight, ms since the epoch
 * @param now ms since the epoch
 */
export function noisySenders<Message extends { readonly sender?: string }>(
  inFlight: ReadonlyMap<Message, number>,
  now: number,
): (message: Message) => boolean {
  const sums = new Map<string, { messages: number; ms: number }>();
  let ms = 0;
  for (const [{ sender = "" }, since] of inFlight) {
    const own = sums.get(sender) ?? { messages: 0, ms: 0 };
    sums.set(sender, { messages: own.messages + 1, ms: own.ms + now - since });
    ms += now - since;
  }
  const noisy = new Set(
    [...sums].flatMap(([sender, own]) => {
      const hasMany = own.messages >= NOISY.messages && own.messages > NOISY.share * inFlight.size;
      return hasMany || own.ms > NOISY.share * ms ? [sender] : [];
    }),
  );
  return ({ sender }) => sender !== undefined && noisy.has(sender);
}

/** A text, cut off where it is longer than `max` characters, as Karpenter cuts the messages of conditions. */
export const shortened = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}...` : text);

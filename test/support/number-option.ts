/** The text of an option as a number of at least `least`. Throws a sentence when it is not one. */
export function numberOption(name: string, text: string, least: number, isWhole = false): number {
  const value = Number(text);
  if (value >= least && (!isWhole || Number.isInteger(value))) return value;
  throw new Error(`--${name} must be a ${isWhole ? "whole " : ""}number of at least ${least}, not "${text}"`);
}

/** The same for a whole number. */
export const wholeOption = (name: string, text: string, least: number): number => numberOption(name, text, least, true);

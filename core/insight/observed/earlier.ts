/** A time that an object states, as far as it can be read and is not after the look that found the object; ms. */
export const earlier = (time: number, at: number): number => (Number.isNaN(time) ? at : Math.min(time, at));

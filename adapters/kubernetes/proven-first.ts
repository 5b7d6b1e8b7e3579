/**
 * The port with these methods waiting until what has been read is proven to be up to date (Readings.prove), so that no
 * effect rests on an old list. When the proof fails, the method throws its error and does nothing.
 */
export function provenFirst<T extends object>(port: T, methods: readonly (keyof T & string)[], prove: () => Promise<void>): T {
  const waiting = methods.map((method) => {
    const call = port[method] as (...args: unknown[]) => unknown;
    const guarded = async (...args: unknown[]): Promise<unknown> => {
      await prove();
      return await call.apply(port, args);
    };
    return [method, guarded] as const;
  });
  return { ...port, ...Object.fromEntries(waiting) };
}

import { toDomainError } from "./errors.ts";

/** All items of a paged answer, in order. Throws the port's errors. */
export async function allPages<Page, Item>(
  read: (token: string | undefined) => Promise<Page>,
  items: (page: Page) => readonly Item[] | undefined,
  next: (page: Page) => string | undefined,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  let token: string | undefined;
  do {
    let page: Page;
    try {
      page = await read(token);
    } catch (error) {
      throw toDomainError(error);
    }
    for (const item of items(page) ?? []) found.push(item);
    token = next(page) || undefined;
  } while (token !== undefined);
  return found;
}

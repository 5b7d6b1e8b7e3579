/** The part of fengari, which has no types, that runs a script of Lua. */
declare module "fengari" {
  type State = object;
  export function to_luastring(text: string): Uint8Array;
  export const lauxlib: { luaL_newstate(): State; luaL_dostring(state: State, code: Uint8Array): boolean };
  export const lualib: { luaL_openlibs(state: State): void };
  export const lua: { lua_tojsstring(state: State, index: number): string };
}

/**
 * The environment of a Go command. A module that needs a newer Go than the installed one gets it by the module proxy,
 * also where Go's own settings forbid that (`go env GOTOOLCHAIN`); the variable GOTOOLCHAIN goes before.
 */
export function goEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, GOTOOLCHAIN: process.env["GOTOOLCHAIN"] ?? "auto" };
}

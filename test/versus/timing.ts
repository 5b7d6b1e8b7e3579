// How long a machine takes from CreateFleet to `running`, from there to its user data, from there to Ready.

export const PENDING_MS = 2_000;
export const BOOT_MS = 13_000;
export const READY_AFTER = "2s";

import { isVersionAtLeast } from "../resources/kernelVersion.ts";

/** Returns whether a tmpfs can be excluded from swap: on kernels from 6.4 on, as upstream. */
export const canKeepOutOfSwap = (kernelVersion: string): boolean => isVersionAtLeast(kernelVersion, "6.4") === true;

/** Returns whether a tmpfs can be excluded from swap: on kernels from 6.4 on, as upstream. */
export function canKeepOutOfSwap(kernelVersion: string): boolean {
  const [major = 0, minor = 0] = kernelVersion.split(".").map(Number.parseFloat);
  return major > 6 || (major === 6 && minor >= 4);
}

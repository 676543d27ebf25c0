/** Whether a tmpfs can be kept out of swap: with every kernel from 6.4 on, as upstream has it. */
export function canKeepOutOfSwap(kernelVersion: string): boolean {
  const [major = 0, minor = 0] = kernelVersion.split(".").map(Number.parseFloat);
  return major > 6 || (major === 6 && minor >= 4);
}

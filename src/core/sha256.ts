/** SHA-256 (FIPS 180-4), for the few short texts whose digest names a file of upstream's layout. */

/** Returns the first 32 bits of the fractional parts of a root of the first primes. */
const fractions = (root: (prime: number) => number, count: number): readonly number[] =>
  PRIMES.slice(0, count).map((prime) => ((root(prime) % 1) * 2 ** 32) | 0);

const PRIMES: readonly number[] = Array.from({ length: 312 }, (_, index) => index).filter(
  (candidate) => candidate > 1 && !hasDivisor(candidate),
);
const K = fractions(Math.cbrt, 64);
const INITIAL = fractions(Math.sqrt, 8);
const BLOCK = 64;

function hasDivisor(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) if (candidate % divisor === 0) return true;
  return false;
}

const rotated = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

/** Returns the digest of a text in UTF-8, as 64 hex digits. */
export function sha256(text: string): string {
  const message = padded(new TextEncoder().encode(text));
  let state = INITIAL;
  for (let offset = 0; offset < message.byteLength; offset += BLOCK) {
    state = compress(state, new DataView(message.buffer, offset, BLOCK));
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** Appends a one bit, zeros, and the length in bits as the last 64 bits of a block. */
function padded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK);
  message.set(bytes);
  message[bytes.length] = 0x80;
  new DataView(message.buffer).setBigUint64(message.length - 8, BigInt(bytes.length) * 8n);
  return message;
}

function compress(state: readonly number[], block: DataView): readonly number[] {
  const words = schedule(block);
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (const [round, word] of words.entries()) {
    const sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const one = (h + sum1 + ((e & f) ^ (~e & g)) + (K[round] ?? 0) + word) | 0;
    const sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const two = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  return [a, b, c, d, e, f, g, h].map((word, index) => ((state[index] ?? 0) + word) | 0);
}

function schedule(block: DataView): readonly number[] {
  const words: number[] = [];
  const at = (index: number): number => words[index] ?? 0;
  for (let index = 0; index < 64; index += 1) {
    if (index < 16) words.push(block.getInt32(index * 4));
    else {
      const [near, far] = [at(index - 2), at(index - 15)];
      const sigma1 = rotated(near, 17) ^ rotated(near, 19) ^ (near >>> 10);
      const sigma0 = rotated(far, 7) ^ rotated(far, 18) ^ (far >>> 3);
      words.push((sigma1 + at(index - 7) + sigma0 + at(index - 16)) | 0);
    }
  }
  return words;
}

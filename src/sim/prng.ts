/**
 * Seeded randomness for the simulation: the seed determines the run. Each concern has its own stream, so that an
 * additional draw in one does not affect the others. Small fast counter generator (sfc32), 128 bits of state; not
 * cryptographically secure.
 */
import { invariant } from "../core/invariant.ts";
import type { Rng } from "../ports/random.ts";

/** A seeded stream of random values. */
export interface Prng extends Rng {
  /**
   * Returns the stream of a concern. It depends on the seed and the name alone, not on earlier draws. Same name, same
   * stream.
   */
  fork(name: string): Prng;
  /** Returns an integer from `low` to `high`, both included. */
  int(low: number, high: number): number;
  /** Returns an item of a non-empty list. */
  pick<T>(items: readonly T[]): T;
  /** Returns true with the given probability. */
  chance(probability: number): boolean;
}

const rotateLeft = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

/** Returns four well-mixed 32-bit words of a text: FNV-1a per word, each with a different start, then an avalanche. */
function seedWords(text: string): readonly [number, number, number, number] {
  const word = (start: number): number => {
    let hash = start | 0;
    for (let index = 0; index < text.length; index += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
    hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
    return hash ^ (hash >>> 16);
  };
  return [word(0x811c9dc5), word(0x2545f491), word(0x9e3779b9), word(0x6c62272e)];
}

/** Mixing rounds before the first value is used. */
const WARM_UP = 12;

/** Creates the stream of a seed. */
export const createPrng = (seed: string | number): Prng => new SeededPrng(String(seed));

class SeededPrng implements Prng {
  private readonly name: string;
  private a: number;
  private b: number;
  private c: number;
  private counter: number;

  constructor(name: string) {
    this.name = name;
    [this.a, this.b, this.c, this.counter] = seedWords(name);
    for (let round = 0; round < WARM_UP; round += 1) this.word();
  }

  private word(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (rotateLeft(this.c, 21) + sum) | 0;
    return sum >>> 0;
  }

  next(): number {
    return ((this.word() >>> 5) * 2 ** 26 + (this.word() >>> 6)) / 2 ** 53;
  }

  uuid(): string {
    const words = [this.word(), this.word(), this.word(), this.word()];
    const hex = words.map((part) => part.toString(16).padStart(8, "0")).join("");
    const variant = "89ab".charAt(Number.parseInt(hex.charAt(16), 16) & 3);
    const [version, third] = [`4${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`];
    // Concatenate: a template would keep all its pieces alive, and ids live as long as their pods.
    return [hex.slice(0, 8), hex.slice(8, 12), version, third, hex.slice(20)].join("-");
  }

  fork(concern: string): Prng {
    return createPrng(`${this.name}/${concern}`);
  }

  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(items: readonly T[]): T {
    invariant(items.length > 0, "pick from an empty list");
    return items[this.int(0, items.length - 1)] as T;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }
}

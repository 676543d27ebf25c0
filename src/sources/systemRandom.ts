/** The real randomness, from the platform's generator. */
import { randomInt, randomUUID } from "node:crypto";
import type { Rng } from "../ports/random.ts";

const RANGE = 2 ** 47;

/** Randomness of this machine. */
export const systemRandom: Rng = {
  next: () => randomInt(RANGE) / RANGE,
  uuid: () => randomUUID(),
};

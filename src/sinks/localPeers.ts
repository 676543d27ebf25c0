/**
 * Clients of the local socket: prepares the place of the socket, and identifies clients by the owner of a file that they
 * create beside it. The kernel sets that owner, so no client can claim another user. Bounds: MAX_CHALLENGES unanswered
 * names, each for CHALLENGE_MS.
 */
import { constants, type Stats } from "node:fs";
import * as fs from "node:fs/promises";
import path from "node:path";
import { kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import {
  ancestorFault,
  groupFault,
  type LocalRules,
  MAX_PROOF_BYTES,
  PLACE_MODE,
  placeFault,
  type PlaceFacts,
  proofDirectory,
  proofDirectoryMode,
  proofFault,
} from "../core/local/localSocket.ts";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";
import { readUpTo } from "../fileSystem/regularFile.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Clock } from "../ports/clock.ts";
import type { LocalPeers } from "../ports/localPeers.ts";
import type { Rng } from "../ports/random.ts";

const MAX_CHALLENGES = 64;
const CHALLENGE_MS = 10_000;
/** Abandoned proofs that are removed at the start. */
const MAX_LEFT = 65_536;

/** The socket, and who may use it. */
export interface LocalPlace extends LocalRules {
  readonly socket: string;
}

/** Returns the facts of a path, without following a final link. */
export const factsOf = async (place: string): Promise<PlaceFacts> => factsIn(await fs.lstat(place));

const factsIn = (stats: Stats): PlaceFacts => ({
  kind: stats.isDirectory() ? "directory" : stats.isSocket() ? "socket" : stats.isFile() ? "file" : "other",
  ...{ uid: stats.uid, gid: stats.gid, mode: stats.mode & 0o7777, links: stats.nlink },
});

/**
 * Makes the directories of the socket and checks that nobody else can replace them. Resolves with warnings. Rejects with
 * PermissionDenied for a directory that others can change or enter.
 */
export async function prepareLocalPlace(place: LocalPlace): Promise<readonly string[]> {
  const directory = path.dirname(path.resolve(place.socket));
  try {
    await ownDirectory(directory, PLACE_MODE, place);
    const warnings = await checkAncestors(directory, place);
    const proofs = proofDirectory(directory);
    await ownDirectory(proofs, proofDirectoryMode(place), place);
    for (const name of (await fs.readdir(proofs)).slice(0, MAX_LEFT)) {
      await fs.rm(path.join(proofs, name), { recursive: true, force: true });
    }
    return warnings;
  } catch (thrown) {
    throw ioError("prepare", directory, thrown);
  }
}

/** Makes a directory; an existing one of this user gets the group and mode, unless others may already enter it. */
async function ownDirectory(directory: string, mode: number, rules: LocalRules): Promise<void> {
  await makeDirectories(directory, 0o700);
  const isOwn = mode === proofDirectoryMode(rules);
  const fault = isOwn
    ? ownerFault(directory, await factsOf(directory), rules)
    : placeFault(directory, await factsOf(directory), rules);
  if (fault !== undefined) throw kubeletError("PermissionDenied", fault);
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  await using opened = await fs.open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (rules.gid !== undefined) await opened.chown(rules.uid, rules.gid);
  await opened.chmod(mode);
}

/** The directory of proofs lies in a private one, so only its owner matters. */
const ownerFault = (directory: string, facts: PlaceFacts, { uid }: LocalRules): string | undefined =>
  facts.kind === "directory" && facts.uid === uid ? undefined : `${directory} is not a directory of user ${uid}`;

async function checkAncestors(directory: string, rules: LocalRules): Promise<readonly string[]> {
  const warnings: string[] = [];
  const real = await fs.realpath(directory);
  for (let at = path.dirname(real); ; at = path.dirname(at)) {
    const facts = await factsOf(at);
    const fault = ancestorFault(at, facts, rules);
    if (fault !== undefined) throw kubeletError("PermissionDenied", fault);
    const unreachable = groupFault(at, facts, rules);
    if (unreachable !== undefined) warnings.push(unreachable);
    if (at === path.dirname(at)) return warnings;
  }
}

/** Creates the identification of the clients of a prepared place. */
export function createLocalPeers(
  { socket, ...rules }: LocalPlace,
  { clock, rng }: { readonly clock: Pick<Clock, "monotonicMs">; readonly rng: Pick<Rng, "uuid"> },
): LocalPeers {
  const proofs = proofDirectory(path.dirname(path.resolve(socket)));
  const open = new Map<string, number>();
  return {
    challenge: () => {
      const name = `${rng.uuid()}${rng.uuid()}`.replaceAll("-", "");
      open.set(name, clock.monotonicMs() + CHALLENGE_MS);
      const [oldest] = open.keys();
      if (open.size > MAX_CHALLENGES && oldest !== undefined) open.delete(oldest);
      return name;
    },
    identify: (challenge) =>
      fromCall(async () => {
        const until = open.get(challenge) ?? 0;
        if (!open.delete(challenge) || clock.monotonicMs() > until)
          throw refused("the challenge is unknown or too old");
        const proof = path.join(proofs, challenge);
        const { facts, content } = await readProof(proof);
        const fault = proofFault(facts, content, challenge, rules);
        if (fault !== undefined) throw refused(fault);
        return { uid: facts.uid, gid: facts.gid };
      }),
  };
}

async function readProof(proof: string): Promise<{ readonly facts: PlaceFacts; readonly content: string }> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    await using file = await fs.open(proof, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const facts = factsIn(await file.stat());
    return { facts, content: facts.kind === "file" ? (await readUpTo(file, MAX_PROOF_BYTES)).toString("latin1") : "" };
  } catch (thrown) {
    throw refused(
      errnoOf(thrown) === "ENOENT" ? "the client has created no file" : `its file cannot be read (${errnoOf(thrown)})`,
    );
  } finally {
    await fs.rm(proof, { recursive: true, force: true });
  }
}

const refused = (why: string) => kubeletError("PermissionDenied", `this user may not use the local socket: ${why}`);

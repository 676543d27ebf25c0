/**
 * The Sealing port: AES-256-GCM with a random nonce per record and the record's name as authenticated data, so that a
 * record cannot take the place of another. The key is a file of mode 0600, made at the first use. Owns the key in
 * memory. Upstream: none.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import { kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";
import { openRegular, readUpTo } from "../fileSystem/regularFile.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Sealing } from "../ports/sealing.ts";
import type { Logger } from "../ports/telemetry.ts";

export interface SealingOptions {
  /** Directory of the key. */
  readonly directory: string;
  readonly log: Logger;
}

const CIPHER = "aes-256-gcm";
const PREFIX = "rxlet-sealed-1 ";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY = /^[0-9a-f]{64}\n?$/;
const DIRECTORY_MODE = 0o700;
const KEY_MODE = 0o600;
/** Permission bits of other users. */
const OTHERS = 0o077;

/** Creates the port. A key that cannot be used is set aside and replaced; its records cannot be opened any more. */
export function createSealing(options: SealingOptions): Sealing {
  let key: Promise<Buffer> | undefined;
  const theKey = async (): Promise<Buffer> => {
    key ??= readOrMakeKey(options);
    try {
      return await key;
    } catch (thrown) {
      key = undefined;
      throw thrown;
    }
  };
  return {
    seal: (name, text) => fromCall(async () => seal(await theKey(), name, text)),
    open: (name, sealed) => fromCall(async () => open(await theKey(), name, sealed)),
  };
}

const aboutOf = (name: string): Buffer => Buffer.from(`${PREFIX}${name}`);

function seal(key: Buffer, name: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(aboutOf(name));
  const data = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return `${PREFIX}${Buffer.concat([nonce, cipher.getAuthTag(), data]).toString("base64")}\n`;
}

function open(key: Buffer, name: string, sealed: string): string {
  const bytes = Buffer.from(sealed.slice(PREFIX.length), "base64");
  if (!sealed.startsWith(PREFIX) || bytes.length < NONCE_BYTES + TAG_BYTES) {
    throw kubeletError("InvalidArgument", "it is not a sealed record of this version");
  }
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(aboutOf(name));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    return text.toString("utf8");
  } catch {
    throw kubeletError("InvalidArgument", "it is damaged, has another name, or was sealed with another key");
  }
}

async function readOrMakeKey({ directory, log }: SealingOptions): Promise<Buffer> {
  const path = `${directory}/key`;
  try {
    const known = await readKey(path, log);
    if (known !== undefined) return known;
    await makeDirectories(directory, DIRECTORY_MODE);
    const key = randomBytes(KEY_BYTES);
    const next = `${path}.new`;
    await fs.rm(next, { force: true });
    await using file = await fs.open(next, "wx", KEY_MODE);
    await file.writeFile(`${key.toString("hex")}\n`);
    await file.sync();
    await fs.rename(next, path);
    return key;
  } catch (thrown) {
    throw unusable(ioError("use the key", path, thrown));
  }
}

/** A record must not be set aside because its key cannot be read now. */
const unusable = (error: ReturnType<typeof ioError>) =>
  error.code === "InvalidArgument" ? { ...error, code: "Unavailable" as const } : error;

/** Returns the key of the file; undefined when there is none that can be used. */
async function readKey(path: string, log: Logger): Promise<Buffer | undefined> {
  try {
    await using file = await openRegular(path);
    if (((await file.stat()).mode & OTHERS) !== 0) {
      log.warn("The key of records for a boot without the API server was open to other users; its mode is 0600 now", {
        path,
      });
      await file.chmod(KEY_MODE);
    }
    const text = (await readUpTo(file, 2 * KEY_BYTES + 2)).toString("latin1");
    if (KEY.test(text)) return Buffer.from(text.trim(), "hex");
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
  const aside = `${path}.aside`;
  log.error("The key of records for a boot without the API server is damaged: it is set aside, and a new one is made", {
    path,
    aside,
  });
  await fs.rename(path, aside);
  return undefined;
}

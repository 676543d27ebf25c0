/** The one image there is: `rxlet.dev/host`, the programs of this machine, under any tag. */
import { createHash } from "node:crypto";
import os from "node:os";
import { Image } from "../gen/cri.ts";

/** Its name without tag. */
export const HOST_IMAGE_NAME = "rxlet.dev/host";
const DIGEST = `sha256:${createHash("sha256").update("rxlet.dev/host: the programs of this machine\n").digest("hex")}`;
/** Id of the image; constant. */
export const HOST_IMAGE_ID = DIGEST;
/** Name with digest, as container statuses carry it. */
export const HOST_IMAGE_REF = `${HOST_IMAGE_NAME}@${DIGEST}`;
/** The tag that is listed. */
export const HOST_IMAGE_TAG = `${HOST_IMAGE_NAME}:latest`;

/** Whether an image reference (name, name:tag, name@digest, id with or without `sha256:`) means the host image. */
export function meansHostImage(reference: string): boolean {
  if (reference === DIGEST || `sha256:${reference}` === DIGEST) return true;
  const [name = "", digest] = reference.split("@");
  if (digest !== undefined && digest !== DIGEST) return false;
  return name === HOST_IMAGE_NAME || /^rxlet\.dev\/host:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(name);
}

/**
 * The image as listed. Its size is 1 although nothing is stored: kubelets take an image of size 0 for a broken answer.
 * Its user is the one that the runtime, and so every container, runs as.
 */
export const hostImage = (): Image =>
  Image.fromPartial({
    id: HOST_IMAGE_ID,
    repoTags: [HOST_IMAGE_TAG],
    repoDigests: [HOST_IMAGE_REF],
    size: 1n,
    uid: { value: BigInt(os.userInfo().uid) },
    spec: { image: HOST_IMAGE_TAG },
    pinned: true,
  });

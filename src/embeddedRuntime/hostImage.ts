/** The only image: `rxlet.dev/host`, the programs of this machine, under any tag. */
import { createHash } from "node:crypto";
import os from "node:os";
import { Image } from "../gen/cri.ts";

/** Image name without tag. */
export const HOST_IMAGE_NAME = "rxlet.dev/host";
const DIGEST = `sha256:${createHash("sha256").update("rxlet.dev/host: the programs of this machine\n").digest("hex")}`;
/** Image ID; constant. */
export const HOST_IMAGE_ID = DIGEST;
/** Image name with digest, as in container statuses. */
export const HOST_IMAGE_REF = `${HOST_IMAGE_NAME}@${DIGEST}`;
/** Image name with the tag shown in listings. */
export const HOST_IMAGE_TAG = `${HOST_IMAGE_NAME}:latest`;

/**
 * Returns whether an image reference (name, name:tag, name@digest, ID with or without `sha256:`) refers to the host
 * image.
 */
export function meansHostImage(reference: string): boolean {
  if (reference === DIGEST || `sha256:${reference}` === DIGEST) return true;
  const [name = "", digest] = reference.split("@");
  if (digest !== undefined && digest !== DIGEST) return false;
  return name === HOST_IMAGE_NAME || /^rxlet\.dev\/host:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(name);
}

/**
 * Returns the image for listings. Its size is 1 although no data is stored, because a kubelet treats size 0 as an
 * invalid response. Its user is the one that runs the runtime, and therefore every container.
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

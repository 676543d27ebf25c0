/** Images of Docker as messages of CRI. Pure. */
import { Image } from "../../gen/cri.ts";
import type { ImageDetails } from "../engine/images.ts";

const DIGEST = "sha256:";
const NUMERIC = /^\d{1,18}$/;

/** Returns an image; the one of pause containers is pinned. */
export function imageMessage({ id, tags, digests, size, user }: ImageDetails, pauseImage: string): Image {
  const [name = ""] = user.split(":");
  return Image.fromPartial({
    id,
    repoTags: [...tags],
    repoDigests: [...digests],
    size,
    ...(NUMERIC.test(name) ? { uid: { value: BigInt(name) } } : { username: name }),
    pinned: tags.includes(pauseImage),
  });
}

/** Whether the name is no more than the begin of the id of an image that has other names. */
export function isShortId(name: string, { id, tags, digests }: ImageDetails): boolean {
  if (name === id || `${DIGEST}${name}` === id) return false;
  const digits = name.startsWith(DIGEST) ? name : `${DIGEST}${name}`;
  if (!id.startsWith(digits)) return false;
  return ![...tags, ...digests].some((known) => known === `${name}:latest` || known.startsWith(`${name}@`));
}

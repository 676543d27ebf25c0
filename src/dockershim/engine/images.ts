/** The answers of Docker about images that the shim reads. Pure. */
import { fieldsOf, textOf, textsOf, wholeOf } from "./fields.ts";

/** An image, as inspected or listed. */
export interface ImageDetails {
  /** `sha256:` and the digest. */
  readonly id: string;
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  readonly size: bigint;
  /** Bytes that other images have too; undefined where Docker does not tell. */
  readonly sharedSize: bigint | undefined;
  /** User of the image's configuration; listed images have none. */
  readonly user: string;
}

/** Reads an image. Docker names none as `<none>`. */
export function imageDetails(value: unknown): ImageDetails {
  const fields = fieldsOf(value);
  const names = (field: string): readonly string[] =>
    [...textsOf(fields, field).filter((name) => !name.startsWith("<none>"))].sort();
  const shared = wholeOf(fields, "SharedSize");
  return {
    id: textOf(fields, "Id"),
    tags: names("RepoTags"),
    digests: names("RepoDigests"),
    size: wholeOf(fields, "Size"),
    sharedSize: typeof fields["SharedSize"] === "number" && shared >= 0n ? shared : undefined,
    user: textOf(fieldsOf(fields["Config"]), "User"),
  };
}

/** Reads a list of images. */
export const imageList = (answer: unknown): readonly ImageDetails[] =>
  (Array.isArray(answer) ? (answer as readonly unknown[]) : []).map(imageDetails);

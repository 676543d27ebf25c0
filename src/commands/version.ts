/** The version of this package. */
import { createRequire } from "node:module";

const manifest: unknown = createRequire(import.meta.url)("../../package.json");

export const VERSION = (manifest as { readonly version: string }).version;

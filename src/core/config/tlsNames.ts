/**
 * Names of TLS versions and cipher suites in Go's notation, which the configuration uses, and their OpenSSL
 * counterparts.
 */

/** Values of `tlsMinVersion`. */
export const TLS_VERSIONS: readonly string[] = ["VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"];

const ECDHE_SUFFIXES = [
  "AES_128_CBC_SHA",
  "AES_256_CBC_SHA",
  "AES_128_GCM_SHA256",
  "AES_256_GCM_SHA384",
  "CHACHA20_POLY1305",
  "CHACHA20_POLY1305_SHA256",
  "RC4_128_SHA",
  "AES_128_CBC_SHA256",
];
const RSA_SUFFIXES = [
  "RC4_128_SHA",
  "3DES_EDE_CBC_SHA",
  "AES_128_CBC_SHA",
  "AES_256_CBC_SHA",
  "AES_128_CBC_SHA256",
  "AES_128_GCM_SHA256",
  "AES_256_GCM_SHA384",
];

/** Values of `tlsCipherSuites`. */
export const TLS_CIPHER_SUITES: readonly string[] = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  ...ECDHE_SUFFIXES.map((suffix) => `TLS_ECDHE_ECDSA_WITH_${suffix}`),
  ...ECDHE_SUFFIXES.map((suffix) => `TLS_ECDHE_RSA_WITH_${suffix}`),
  "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
  ...RSA_SUFFIXES.map((suffix) => `TLS_RSA_WITH_${suffix}`),
];

const VERSIONS = {
  VersionTLS10: "TLSv1",
  VersionTLS11: "TLSv1.1",
  VersionTLS12: "TLSv1.2",
  VersionTLS13: "TLSv1.3",
} as const;

/** Returns the minimum version in OpenSSL's notation; default: 1.2. */
export const opensslVersion = (name: string): (typeof VERSIONS)[keyof typeof VERSIONS] =>
  VERSIONS[name as keyof typeof VERSIONS] ?? VERSIONS.VersionTLS12;

/** The suites of TLS 1.3 are not configurable, as in Go. */
const TLS13_SUITES = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

/** Converts `ECDHE_RSA_WITH_AES_128_GCM_SHA256` to `ECDHE-RSA-AES128-GCM-SHA256`. */
const opensslCipher = (suite: string): string =>
  suite
    .replace(/^TLS_/, "")
    .replace(/_CBC_SHA/, "_SHA")
    .replace(/(POLY1305)_SHA256$/, "$1")
    .replace("3DES_EDE", "DES_CBC3")
    .replace(/AES_(\d+)/, "AES$1")
    .replace(/^RSA_WITH_|_WITH/, "")
    .replaceAll("_", "-");

/**
 * Returns the OpenSSL cipher list for these suites. `known`: the ciphers of this OpenSSL, in lower case; others, such
 * as RC4, are omitted. Without any other suite only TLS 1.3 is enabled.
 */
export const opensslCiphers = (suites: readonly string[], known: readonly string[]): string => {
  const chosen = suites.filter((suite) => !TLS13_SUITES.includes(suite)).map(opensslCipher);
  return [...TLS13_SUITES, ...chosen.filter((name) => known.includes(name.toLowerCase()))].join(":");
};

const GROUPS: ReadonlyMap<number, string> = new Map([
  [23, "P-256"],
  [24, "P-384"],
  [25, "P-521"],
  [29, "X25519"],
  [4588, "X25519MLKEM768"],
]);

/** Returns the groups by IANA number without unknown ones; `auto` when none is left. */
export const opensslGroups = (numbers: readonly number[]): string =>
  numbers.flatMap((number) => GROUPS.get(number) ?? []).join(":") || "auto";

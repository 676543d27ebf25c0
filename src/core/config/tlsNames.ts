/** Names of TLS versions and cipher suites as Go spells them; the configuration uses those. */

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

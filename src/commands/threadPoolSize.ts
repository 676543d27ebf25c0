/**
 * Sizes libuv's thread pool, which serves files, DNS look-ups, gzip and crypto. To be imported before everything else:
 * the pool reads the variable when it is first used. Half of the threads at most look up names, so that a slow name server
 * leaves the other half to files. Idle threads cost no resident memory. The variable of the environment takes precedence.
 */
const THREADS = 16;

process.env["UV_THREADPOOL_SIZE"] ??= String(THREADS);

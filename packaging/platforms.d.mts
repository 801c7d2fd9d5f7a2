export const ROOT: string;
export const PREBUILDS: string;
export const PLATFORMS: string[];
export const OLDEST_GLIBC: string;

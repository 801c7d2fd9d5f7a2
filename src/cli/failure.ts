/** Something that the user can understand and act on: shown as one line, without a stack. */
export class Failure extends Error {}

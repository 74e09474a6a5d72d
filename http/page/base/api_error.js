/** An error of a request: `code` for programs, `message` for people. */
export class ApiError extends Error {
  constructor(status, code, message, heldMoves = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.heldMoves = heldMoves;
  }
}

/** Packages that users install if they want what needs them. */
import { Failure } from '../../process/failure.js';

/** Returns what `load` imports. `user`: what needs the package. @throws Failure if it is not installed */
export async function optionalPackage<Module>(
  name: string,
  user: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Failure(`${user} needs a package that is not installed: npm install ${name}`);
  }
}

package io.github.singletonjob.servers;

/**
 * What can run an image.
 */
interface ContainerEngine {

	/** Whether it is there; says so within seconds. */
	boolean answers();

	/** Whether it has the image, or can fetch it within a minute. */
	boolean obtains(ServerImage image);

	/**
	 * Starts a container that ends with this JVM.
	 * @return its port on the loopback interface
	 */
	int start(ServerImage image);

}

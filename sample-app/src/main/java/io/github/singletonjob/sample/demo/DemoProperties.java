package io.github.singletonjob.sample.demo;

import java.nio.file.Path;
import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Settings of the stage.
 *
 * @param customers how many customers the company has
 * @param cardNetworkDelay how long the card network takes for a charge
 * @param mailProviderDelay how long the mail provider takes for a mail
 * @param directory where the database is kept while the demo runs
 */
@ConfigurationProperties("demo")
record DemoProperties(int customers, Duration cardNetworkDelay, Duration mailProviderDelay, Path directory) {
}
